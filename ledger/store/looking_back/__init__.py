"""Reading history: the journal, timelines, past states of the ledger, and audits of the log."""
