-- The next decisions about an invoice: those of its customers, also where it is one of several
-- invoices, and those made before the ledger knew the invoice. Each part has its own index.
WITH d AS (
    SELECT c.*
    FROM decisions c
    WHERE c.partition = 0
        AND c.customer_id = ANY (%(customers)s::text[])
        AND c.decided_at >= %(at)s::timestamptz - interval '1 minute'
        AND (
            c.invoice_id = %(invoice_id)s
            OR (c.request::jsonb -> 'invoices') ? %(invoice_id)s
            OR c.answer ->> 'permit_id' = ANY (%(permits)s::text[])
        )
    UNION ALL
    SELECT u.*
    FROM decisions u
    WHERE u.partition = 0
        AND u.customer_id IS NULL
        AND u.invoice_id = %(invoice_id)s
        AND u.decided_at >= %(at)s::timestamptz - interval '1 minute'
)
SELECT d.decision_id::text, d.decided_at, d.position, d.operation, d.sender, d.kind, d.customer_id,
    d.invoice_id, d.thread_id, d.status, d.code, d.replayed
FROM d
WHERE (d.position, d.decided_at, 1, d.decision_id::text COLLATE "C")
    > (%(position)s, %(at)s, %(rank)s, %(id)s COLLATE "C")
ORDER BY d.decided_at, d.position, d.decision_id::text COLLATE "C"
LIMIT %(limit)s
