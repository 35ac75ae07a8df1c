SELECT coalesce(max(e.position), 0) FROM events e WHERE e.partition = 0
