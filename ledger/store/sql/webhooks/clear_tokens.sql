DELETE FROM webhook_tokens
WHERE partition = 0 AND (provider, token_hash) IN (
    SELECT provider, token_hash FROM webhook_tokens
    WHERE partition = 0 AND seen_at <= (SELECT ledger_now()) - make_interval(hours => %(hours)s)
    ORDER BY seen_at
    LIMIT %(limit)s
)
