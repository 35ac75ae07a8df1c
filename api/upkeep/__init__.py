"""Upkeep: background work without a request: permit expiry, the witness, lag alerts."""
