-- The next alerts about some customers; for an invoice only those about its permits.
SELECT a.alert_id, a.raised_at, a.position, a.kind, a.summary, a.customer_id, a.permit_id,
    a.delivered_at, a.acked_at, a.acked_by
FROM alerts a
WHERE a.partition = 0
    AND NOT a.drill
    AND a.customer_id = ANY (%(customers)s::text[])
    AND (%(permits)s::text[] IS NULL OR a.permit_id = ANY (%(permits)s::text[]))
    AND a.position >= %(position)s
    AND (a.position, a.raised_at, 2, lpad(a.alert_id::text, 20, '0') COLLATE "C")
        > (%(position)s, %(at)s, %(rank)s, %(id)s COLLATE "C")
ORDER BY a.position, a.raised_at, a.alert_id
LIMIT %(limit)s
