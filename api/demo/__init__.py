"""The demo: the ledger's story, told on a throw-away ledger by real HTTP calls."""
