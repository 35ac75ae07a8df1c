"""The facts that the ledger takes: one file a type, each listed in `registry.py` (design D10)."""
