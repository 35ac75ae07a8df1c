"""Benchmarks as ratios of the ledger to a baseline that is measured in the same run."""
