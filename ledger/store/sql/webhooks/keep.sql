INSERT INTO rejected_bodies (partition, provider, kind, detail, headers, body, received_at)
VALUES (0, %(provider)s, %(kind)s, %(detail)s, %(headers)s, %(body)s, ledger_now())
RETURNING rejected_id
