-- The live generation of each read model.
SELECT g.name, g.generation, g.version, g.policy, g.position, g.failed_position
FROM projections p JOIN projection_generations g USING (partition, name, generation)
WHERE p.partition = 0 ORDER BY g.name
