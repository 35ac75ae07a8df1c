-- The invoices of some customers, by the ids that ever named one of them: one index probe for each.
SELECT i.originator_id::text, i.invoice_id, i.customer_id, i.currency, i.total, i.balance, i.status,
    i.issued_on, i.due_on, i.cycle, i.observed_at, i.source
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.* FROM invoices v WHERE v.originator_id = wanted.id
    OFFSET 0
) AS i
WHERE i.originator_id > %(after)s AND (%(status)s::text IS NULL OR i.status = %(status)s)
    AND i.customer_id = ANY (%(customers)s::text[])
ORDER BY i.originator_id LIMIT %(limit)s
