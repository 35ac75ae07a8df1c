-- Unsettled permits, oldest first, by their index.
SELECT p.permit_id, p.doc, p.send_by FROM permits p
WHERE p.partition = 0 AND p.state = %(state)s AND (p.send_by, p.permit_id) > (%(send_by)s, %(after)s)
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
    AND (%(sender)s::text IS NULL OR p.doc ->> 'sender' = %(sender)s)
    AND (%(kind)s::text IS NULL OR p.doc ->> 'kind' = %(kind)s)
    AND (%(from)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz < %(to)s)
ORDER BY p.send_by, p.permit_id LIMIT %(limit)s
