SELECT position, hash FROM events WHERE partition = 0 AND position = ANY (%(positions)s::bigint[])
