SELECT p.permit_id, p.doc FROM permits p
WHERE p.partition = 0 AND p.permit_id > %(after)s AND (%(state)s::text IS NULL OR p.state = %(state)s)
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
ORDER BY p.permit_id LIMIT %(limit)s
