SELECT p.permit_id::text FROM permits p
WHERE p.partition = 0 AND p.state IN ('granted', 'redeemed') AND p.send_by <= ledger_now()
ORDER BY p.send_by LIMIT %(limit)s
