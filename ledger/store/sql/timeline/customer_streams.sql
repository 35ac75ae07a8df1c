-- The streams of a customer's timeline beside their own: every invoice that ever named them, and
-- every thread that ever belonged to them.
SELECT 'invoice', o.invoice_id
FROM invoice_owners o
WHERE o.partition = 0 AND o.customer_id = ANY (%(customers)s::text[])
UNION
SELECT 'thread', c.state ->> 'thread_id'
FROM events e
CROSS JOIN LATERAL (
    SELECT f.state
    FROM events f
    WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
    OFFSET 0
) AS c
WHERE e.partition = 0
    AND e.topic IN ('ledger:Thread.Created', 'ledger:Thread.Moved')
    AND e.state ->> 'customer_id' = ANY (%(customers)s::text[])
