UPDATE projection_generations SET position = %(position)s, failed_position = NULL, error = NULL
WHERE partition = 0 AND name = %(name)s AND generation = %(generation)s
