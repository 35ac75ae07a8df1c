SELECT key_id, name, scopes, redeem_required, intents, transactional FROM keys WHERE partition = 0 AND hash = %(hash)s AND revoked_at IS NULL
