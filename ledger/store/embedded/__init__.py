"""The embedded PostgreSQL: its programs, its data folder, its processes and its owner lock."""
