"""Imports: mails that went out past the ledger, read from a provider's sent log."""
