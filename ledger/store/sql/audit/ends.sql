SELECT min(position), max(position) FROM events WHERE partition = 0
