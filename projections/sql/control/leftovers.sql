-- Generations that are not live, the newest first; only the owner of the rebuild lock may judge them.
SELECT g.generation, g.version, g.policy, g.state, g.position
FROM projection_generations g
WHERE g.partition = 0 AND g.name = %(name)s AND g.state <> 'live'
ORDER BY g.generation DESC
