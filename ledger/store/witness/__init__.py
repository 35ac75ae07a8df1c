"""The witness: a record outside the database of the last committed position of the log."""
