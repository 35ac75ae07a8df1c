SELECT position, originator_id::text, originator_version, topic, state, recorded_at, encode(hash, 'hex')
FROM events
WHERE partition = 0 AND originator_id = ANY (%(aggregates)s::uuid[]) AND position > %(after)s
ORDER BY position LIMIT %(limit)s
