"""Settings: what the environment and ledger.toml say, read once at start-up."""
