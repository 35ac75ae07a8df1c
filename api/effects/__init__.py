"""Reports of what the ledger did in a time, for people and programs."""
