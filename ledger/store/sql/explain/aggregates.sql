-- The events of aggregates up to a position. LATERAL with OFFSET 0 forces one index probe each.
SELECT e.originator_id, e.originator_version, e.topic, e.state::text
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.originator_id, v.originator_version, v.topic, v.state
    FROM events v
    WHERE v.partition = 0 AND v.originator_id = wanted.id AND v.position <= %(position)s
    OFFSET 0
) AS e
ORDER BY e.originator_id, e.originator_version
