-- The live generation of each read model, the version that it was built by, and the schema of the log.
SELECT g.name, g.version, projection_schema(g.name, g.generation), ledger_schema()
FROM projections p JOIN projection_generations g USING (partition, name, generation)
WHERE p.partition = 0
