"""The store of the write side: its SQL and the code that runs it."""
