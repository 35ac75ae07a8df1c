"""The ways into the ledger: HTTP, webhooks, command line."""
