-- The decision log's rows of these decisions, each with the current head of the log.
SELECT d.decision_id::text, d.status, d.position,
    (SELECT max(e.position) FROM events e WHERE e.partition = 0)
FROM unnest(%(decisions)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT l.decision_id, l.status, l.position FROM decisions l
    WHERE l.partition = 0 AND l.decision_id = wanted.id
    OFFSET 0
) AS d
