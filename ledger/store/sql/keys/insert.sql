INSERT INTO keys (partition, key_id, name, hash, scopes, redeem_required, intents, transactional, created_at)
VALUES (0, %(key_id)s, %(name)s, %(hash)s, %(scopes)s, %(redeem_required)s, %(intents)s, %(transactional)s, ledger_now())
