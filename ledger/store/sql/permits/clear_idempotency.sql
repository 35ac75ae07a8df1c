DELETE FROM idempotency WHERE partition = 0 AND scope IN (
    SELECT i.scope FROM idempotency i
    WHERE i.partition = 0 AND i.created_at <= (SELECT ledger_now()) - make_interval(days => %(days)s)
    ORDER BY i.created_at LIMIT %(limit)s
)
