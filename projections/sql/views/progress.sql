-- How far each read model has come; the other views are as fresh as the ones that they read.
SELECT g.name AS read_model, g.position AS log_position, head.position AS log_end_position,
    head.position - g.position AS behind_count, g.failed_position IS NOT NULL AS is_failed
FROM {ledger}.projections p
JOIN {ledger}.projection_generations g USING (partition, name, generation)
CROSS JOIN (
    SELECT coalesce(max(e.position), 0) AS position FROM {ledger}.events e WHERE e.partition = 0
) head
WHERE p.partition = 0
