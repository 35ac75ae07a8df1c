-- Claim some objects of the providers with a configured API, for a while; no lock stays (D11).
UPDATE refresh_work
SET claimed_until = clock_timestamp() + %(claim)s, attempts = attempts + 1
WHERE partition = 0 AND refresh_id IN (
    SELECT refresh_id FROM refresh_work
    WHERE partition = 0 AND provider = ANY (%(providers)s)
        AND next_attempt_at <= clock_timestamp()
        AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
    ORDER BY next_attempt_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
RETURNING refresh_id, provider, object_kind, object_id, hints, attempts
