"""The demo: a scripted scenario on a temporary ledger, by real HTTP calls."""
