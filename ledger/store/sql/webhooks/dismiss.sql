UPDATE rejected_bodies SET resolved_at = ledger_now(), resolution = 'dismissed'
WHERE partition = 0 AND rejected_id = %(rejected_id)s AND resolved_at IS NULL
