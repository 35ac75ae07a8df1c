-- The time of the last event that was not lost, and whether the loss is recorded already. Events
-- written after a restore have later times than all events seen before it.
WITH kept AS (
    SELECT e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.recorded_at <= %(seen_at)s
    ORDER BY e.position DESC
    LIMIT 1
)
SELECT (SELECT k.recorded_at FROM kept k), EXISTS (
    SELECT FROM events r
    WHERE r.partition = 0
        AND r.originator_id = %(control)s
        AND r.topic = 'ledger:Control.RecoveryEntered'
        AND r.recorded_at > %(seen_at)s
        AND (
            r.state ->> 'import_from' IS NULL
            OR (r.state ->> 'import_from')::timestamptz <= (SELECT k.recorded_at FROM kept k)
        )
)
