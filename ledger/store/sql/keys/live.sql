SELECT hash, key_id, name, scopes, redeem_required, intents, transactional, kinds, stages, customers,
    reads_addresses, riding
FROM keys
WHERE partition = 0 AND revoked_at IS NULL ORDER BY created_at, key_id LIMIT %(limit)s
