"""The HTTP gate: the sending endpoints of mail providers, which ask the ledger first."""
