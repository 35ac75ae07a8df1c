"""The log of events: one writer loads, hashes and appends it in batches."""
