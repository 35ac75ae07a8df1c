"""The witness: proof, kept outside the database, of how far the log had come."""
