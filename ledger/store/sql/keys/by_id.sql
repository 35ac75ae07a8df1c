SELECT key_id, name, scopes, redeem_required, intents, transactional, kinds, stages, customers,
    reads_addresses, riding
FROM keys
WHERE partition = 0 AND key_id = %(key_id)s
