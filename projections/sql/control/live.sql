-- The version and policy by which the live generation of each read model was built.
SELECT g.name, g.version, g.policy
FROM projections p JOIN projection_generations g USING (partition, name, generation)
WHERE p.partition = 0 ORDER BY g.name
