"""Reading what providers post: strict JSON and XML, records, times, mails and invoices."""
