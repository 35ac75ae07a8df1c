"""Upkeep: what a process does by itself, without a request: lapses, the witness, lag alerts."""
