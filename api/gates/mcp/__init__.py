"""The ledger for agents: an MCP server of its own, and a guard for e-mail servers of others."""
