INSERT INTO policies (partition, version, policy, first_used_at)
VALUES (0, %(version)s, %(policy)s, ledger_now())
ON CONFLICT (partition, version) DO NOTHING
