SELECT p.permit_id, p.doc FROM permits p
WHERE p.partition = 0 AND p.permit_id > %(after)s AND (%(state)s::text IS NULL OR p.state = %(state)s)
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
    AND (%(sender)s::text IS NULL OR p.doc ->> 'sender' = %(sender)s)
    AND (%(kind)s::text IS NULL OR p.doc ->> 'kind' = %(kind)s)
    AND (%(from)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz < %(to)s)
ORDER BY p.permit_id LIMIT %(limit)s
