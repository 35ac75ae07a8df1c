"""The log: loaded, hashed and written by one writer, in batches."""
