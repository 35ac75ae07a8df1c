DELETE FROM projection_generations
WHERE partition = 0 AND name = %(name)s AND generation = %(generation)s AND state <> 'live'
