"""The store of the write side: the only code that speaks SQL for it."""
