UPDATE projection_generations SET state = %(state)s
WHERE partition = 0 AND name = %(name)s AND generation = %(generation)s
