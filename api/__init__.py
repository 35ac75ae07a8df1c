"""The ways into the ledger, in wings: two faces (HTTP, command line) over the same inner wings."""
