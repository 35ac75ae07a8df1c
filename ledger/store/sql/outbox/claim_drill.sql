-- Claim the drill of this customer, even if its retry is not due yet.
UPDATE pages
SET claimed_until = clock_timestamp() + %(claim)s, attempts = attempts + 1
WHERE partition = 0 AND page_id = (
    SELECT p.page_id
    FROM alerts a JOIN pages p ON p.partition = a.partition AND p.page_id = a.page_id
    WHERE a.partition = 0 AND a.drill AND a.customer_id = %(customer_id)s AND p.done_at IS NULL
        AND (p.claimed_until IS NULL OR p.claimed_until <= clock_timestamp())
    ORDER BY p.page_id
    LIMIT 1
    FOR UPDATE OF p SKIP LOCKED
)
RETURNING page_id, reason, dedupe_key, attempts
