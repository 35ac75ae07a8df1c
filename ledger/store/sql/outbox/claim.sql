-- Claim one page for a while; new pages first, so that pages which keep failing do not delay them.
UPDATE pages
SET claimed_until = clock_timestamp() + %(claim)s, attempts = attempts + 1
WHERE partition = 0 AND page_id = (
    SELECT page_id FROM pages
    WHERE partition = 0 AND done_at IS NULL
        AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
        AND next_attempt_at <= clock_timestamp()
    ORDER BY attempts > 0, page_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
RETURNING page_id, reason, dedupe_key, attempts
