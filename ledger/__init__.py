"""The write side of the send ledger."""
