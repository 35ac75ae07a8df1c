-- Generations that are not live, newest first; only the holder of the rebuild lock may use this.
SELECT g.generation, g.version, g.policy, g.state, g.position
FROM projection_generations g
WHERE g.partition = 0 AND g.name = %(name)s AND g.state <> 'live'
ORDER BY g.generation DESC
