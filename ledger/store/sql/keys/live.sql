SELECT hash, key_id, name, scopes, redeem_required, intents, transactional FROM keys
WHERE partition = 0 AND revoked_at IS NULL ORDER BY created_at, key_id LIMIT %(limit)s
