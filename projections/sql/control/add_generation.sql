INSERT INTO projection_generations (partition, name, generation, version, policy, state)
SELECT 0, %(name)s, coalesce(max(g.generation), 0) + 1, %(version)s, %(policy)s, 'building'
FROM projection_generations g WHERE g.partition = 0 AND g.name = %(name)s
RETURNING generation
