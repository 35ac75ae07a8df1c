-- Dismissed: the bytes are deleted (design D18); the hash stays to recognise the same body.
UPDATE rejected_bodies
SET resolved_at = ledger_now(), resolution = 'dismissed', body = '', headers = '{}'
WHERE partition = 0 AND rejected_id = %(rejected_id)s AND resolved_at IS NULL
