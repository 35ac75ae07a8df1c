SELECT max(position) FROM events WHERE partition = 0
