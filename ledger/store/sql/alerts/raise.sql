INSERT INTO alerts (partition, dedupe_key, kind, summary, customer_id, permit_id, raised_at)
VALUES (0, %(key)s, %(kind)s, %(summary)s, %(customer_id)s, %(permit_id)s, ledger_now())
ON CONFLICT (partition, dedupe_key) DO NOTHING
