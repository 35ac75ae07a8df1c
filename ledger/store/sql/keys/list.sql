SELECT key_id, name, scopes, redeem_required, intents, transactional, kinds, stages, customers,
    reads_addresses, riding, created_at, revoked_at
FROM keys WHERE partition = 0 AND key_id > %(after)s ORDER BY key_id LIMIT %(limit)s
