-- The next decisions about some customers. The separate condition on the time allows the index:
-- positions and times rise together, except for rows inserted without the writer lock.
SELECT d.decision_id::text, d.decided_at, d.position, d.operation, d.sender, d.kind, d.customer_id,
    d.invoice_id, d.thread_id, d.status, d.code, d.replayed
FROM decisions d
WHERE d.partition = 0
    AND d.customer_id = ANY (%(customers)s::text[])
    AND d.decided_at >= %(at)s::timestamptz - interval '1 minute'
    AND (d.position, d.decided_at, 1, d.decision_id::text COLLATE "C")
        > (%(position)s, %(at)s, %(rank)s, %(id)s COLLATE "C")
ORDER BY d.decided_at, d.position, d.decision_id::text COLLATE "C"
LIMIT %(limit)s
