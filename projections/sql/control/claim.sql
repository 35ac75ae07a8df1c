-- The checkpoint of the live generation, locked until the end of the transaction; no row while
-- another transaction holds the lock. The state is checked again after the lock is taken.
SELECT g.generation, g.version, g.position
FROM projections p JOIN projection_generations g USING (partition, name, generation)
WHERE p.partition = 0 AND p.name = %(name)s AND g.state = 'live'
FOR UPDATE OF g SKIP LOCKED
