"""Takes the ledger's tables away as files, and proves such files against the hash chain."""
