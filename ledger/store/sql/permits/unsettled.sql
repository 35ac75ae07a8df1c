-- Unsettled permits, oldest first, by their index.
SELECT p.permit_id, p.doc, p.send_by FROM permits p
WHERE p.partition = 0 AND p.state = %(state)s AND (p.send_by, p.permit_id) > (%(send_by)s, %(after)s)
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
ORDER BY p.send_by, p.permit_id LIMIT %(limit)s
