-- The checkpoint of the live generation, locked: waits until the range in progress is processed.
SELECT g.generation, g.position
FROM projections p JOIN projection_generations g USING (partition, name, generation)
WHERE p.partition = 0 AND p.name = %(name)s
FOR UPDATE OF p, g
