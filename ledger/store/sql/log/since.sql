SELECT originator_id, originator_version, topic, state::text
FROM events
WHERE partition = 0 AND position > %(position)s
ORDER BY position
LIMIT %(limit)s
