INSERT INTO alerts (partition, dedupe_key, kind, summary, raised_at)
VALUES (0, %(key)s, 'ingest_rejected', %(summary)s, ledger_now())
ON CONFLICT (partition, dedupe_key) DO NOTHING
