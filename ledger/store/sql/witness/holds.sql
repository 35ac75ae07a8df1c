-- Is that event in the log?
SELECT EXISTS (
    SELECT FROM events e WHERE e.partition = 0 AND e.position = %(position)s AND e.hash = %(hash)s
)
