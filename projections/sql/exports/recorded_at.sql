SELECT e.recorded_at FROM events e WHERE e.partition = 0 AND e.position = %(position)s
