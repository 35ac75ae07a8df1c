"""Upkeep: background work without a request: lapsed permits, the witness, lag alerts."""
