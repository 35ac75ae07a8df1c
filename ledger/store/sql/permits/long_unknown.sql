SELECT count(*), min(p.send_by), (array_agg(p.permit_id::text ORDER BY p.send_by))[1],
    (array_agg(p.customer_id ORDER BY p.send_by))[1]
FROM permits p
WHERE p.partition = 0 AND p.state = 'unknown' AND p.send_by <= (SELECT ledger_now()) - make_interval(mins => %(minutes)s)
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
