"""Benchmarks as ratios: the ledger against a baseline that was measured in the same run."""
