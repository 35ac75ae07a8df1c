-- The row as it stood before a second body came with the same token: the first body keeps it.
INSERT INTO webhook_tokens (partition, provider, token_hash, body_hash, seen_at)
VALUES (0, %(provider)s, sha256(%(token)s), sha256(%(body)s), ledger_now())
ON CONFLICT (partition, provider, token_hash) DO UPDATE SET body_hash = webhook_tokens.body_hash
RETURNING body_hash = sha256(%(body)s)
