"""Settings from the environment and ledger.toml, read once at start-up."""
