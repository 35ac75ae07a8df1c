SELECT originator_id, originator_version, topic, state::text, position
FROM events
WHERE partition = 0
    AND position > %(after)s
    AND position <= coalesce(%(stop)s::bigint, 9223372036854775807)
    AND (%(topics)s::text[] IS NULL OR topic = ANY (%(topics)s::text[]))
ORDER BY position
LIMIT %(limit)s
