-- A kind without an open body may raise an alert again. Rows are locked in the order in which kinds
-- are opened, to avoid deadlocks.
WITH quiet AS (
    SELECT k.provider, k.kind FROM rejected_kinds k
    WHERE k.partition = 0 AND k.open AND NOT EXISTS (
        SELECT 1 FROM rejected_bodies r
        WHERE r.partition = 0 AND r.resolved_at IS NULL AND r.provider = k.provider
            AND k.kind = ANY (r.kinds)
    )
    ORDER BY k.provider, k.kind
    FOR UPDATE
)
UPDATE rejected_kinds k SET open = false
FROM quiet
WHERE k.partition = 0 AND k.provider = quiet.provider AND k.kind = quiet.kind
