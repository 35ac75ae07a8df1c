UPDATE projection_generations SET failed_position = %(position)s, error = %(error)s
WHERE partition = 0 AND name = %(name)s AND generation = %(generation)s
