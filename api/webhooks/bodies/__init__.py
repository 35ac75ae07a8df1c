"""Parsing of webhook bodies: strict JSON and XML, records, times, mails and invoices."""
