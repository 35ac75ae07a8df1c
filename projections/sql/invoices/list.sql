-- Invoices by the primary key, which is in no order that means something.
SELECT i.originator_id::text, i.invoice_id, i.customer_id, i.currency, i.total, i.balance, i.status,
    i.issued_on, i.due_on, i.cycle, i.observed_at, i.source
FROM invoices i
WHERE i.originator_id > %(after)s AND (%(status)s::text IS NULL OR i.status = %(status)s)
ORDER BY i.originator_id LIMIT %(limit)s
