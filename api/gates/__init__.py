"""Gates: programs that cannot be changed ask the ledger through them, as any other client does."""
