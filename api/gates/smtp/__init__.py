"""The SMTP gate: an SMTP server that asks the ledger before it hands a mail over upstream."""
