-- Nothing needs to be done about it: its bytes go (design D18), its hash stays to know it again.
UPDATE rejected_bodies
SET resolved_at = ledger_now(), resolution = 'dismissed', body = '', headers = '{}'
WHERE partition = 0 AND rejected_id = %(rejected_id)s AND resolved_at IS NULL
