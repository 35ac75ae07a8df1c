"""Diagnosis: what an expert would find wrong with a running ledger."""
