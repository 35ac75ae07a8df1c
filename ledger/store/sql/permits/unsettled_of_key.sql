-- Unsettled permits of one key, oldest first: of those that are unsettled, which are few.
SELECT p.permit_id, p.doc, p.send_by FROM permits p
WHERE p.partition = 0 AND p.state = %(state)s AND (p.send_by, p.permit_id) > (%(send_by)s, %(after)s)
    AND p.doc ->> 'key_id' = %(key_id)s
    AND (%(sender)s::text IS NULL OR p.doc ->> 'sender' = %(sender)s)
    AND (%(kind)s::text IS NULL OR p.doc ->> 'kind' = %(kind)s)
    AND (%(from)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR (p.doc ->> 'granted_at')::timestamptz < %(to)s)
ORDER BY p.send_by, p.permit_id LIMIT %(limit)s
