UPDATE keys SET revoked_at = ledger_now()
WHERE partition = 0 AND key_id = %(key_id)s AND revoked_at IS NULL
RETURNING key_id
