SELECT key_id, name, scopes, redeem_required, intents, transactional FROM keys
WHERE partition = 0 AND key_id = %(key_id)s
