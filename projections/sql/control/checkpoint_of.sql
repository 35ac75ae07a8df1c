SELECT g.position FROM projection_generations g
WHERE g.partition = 0 AND g.name = %(name)s AND g.generation = %(generation)s
