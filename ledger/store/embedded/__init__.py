"""The embedded PostgreSQL: its programs, its data folder, its processes and their one owner."""
