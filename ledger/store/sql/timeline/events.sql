-- The next events of some streams. LATERAL with OFFSET 0 forces one index probe for each stream.
SELECT e.position, e.recorded_at, e.originator_id, e.originator_version, e.topic, e.state
FROM unnest(%(streams)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.position, v.recorded_at, v.originator_id, v.originator_version, v.topic, v.state
    FROM events v
    WHERE v.partition = 0 AND v.originator_id = wanted.id AND v.position > %(position)s
    ORDER BY v.originator_version
    LIMIT %(limit)s
    OFFSET 0
) AS e
ORDER BY e.position
LIMIT %(limit)s
