INSERT INTO keys (
    partition, key_id, name, hash, scopes, redeem_required, intents, transactional, kinds, stages, customers,
    reads_addresses, riding, created_at)
VALUES (
    0, %(key_id)s, %(name)s, %(hash)s, %(scopes)s, %(redeem_required)s, %(intents)s, %(transactional)s,
    %(kinds)s, %(stages)s, %(customers)s, %(reads_addresses)s, %(riding)s, ledger_now())
RETURNING key_id, name, scopes, redeem_required, intents, transactional, kinds, stages, customers,
    reads_addresses, riding, created_at, revoked_at
