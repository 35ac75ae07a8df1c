-- Each read model: its live generation, and how long its oldest unprocessed event has waited.
SELECT g.name, g.generation, g.position, head.position,
    CASE
        WHEN g.failed_position IS NOT NULL THEN 'failed'
        WHEN building.held THEN 'rebuilding'
        ELSE 'live' END,
    coalesce(extract(epoch FROM ledger_now() - waiting.recorded_at), 0)::float8,
    g.failed_position, g.error
FROM projections p
JOIN projection_generations g USING (partition, name, generation)
CROSS JOIN (SELECT coalesce(max(e.position), 0) AS position FROM events e WHERE e.partition = 0) head
LEFT JOIN LATERAL (
    SELECT e.recorded_at FROM events e WHERE e.partition = 0 AND e.position = g.position + 1
) waiting ON true
-- A rebuild holds this lock while it runs.
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            AND l.classid = 720341288 AND l.objid::bigint = hashtext(g.name)::bigint & 4294967295
    ) AS held
) building
WHERE p.partition = 0
ORDER BY g.name
