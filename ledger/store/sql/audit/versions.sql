-- The first event whose version is not the previous version of its aggregate plus one. Events
-- before the range are read only if the range does not start at the beginning of the log.
SELECT min(seen.position)
FROM (
    SELECT
        e.position, e.originator_id, e.originator_version,
        lag(e.originator_version) OVER (PARTITION BY e.originator_id ORDER BY e.position) AS before
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
) AS seen
WHERE seen.originator_version <> 1 + coalesce(
    seen.before,
    CASE WHEN %(after)s > 0 THEN (
        SELECT p.originator_version
        FROM events p
        WHERE p.partition = 0 AND p.originator_id = seen.originator_id AND p.position <= %(after)s
        ORDER BY p.originator_version DESC
        LIMIT 1
    ) END,
    0
)
