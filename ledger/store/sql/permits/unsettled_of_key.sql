-- Unsettled permits of one key, oldest first: of those that are unsettled, which are few.
SELECT p.permit_id, p.doc, p.send_by FROM permits p
WHERE p.partition = 0 AND p.state = %(state)s AND (p.send_by, p.permit_id) > (%(send_by)s, %(after)s)
    AND p.doc ->> 'key_id' = %(key_id)s
ORDER BY p.send_by, p.permit_id LIMIT %(limit)s
