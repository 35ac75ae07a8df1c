SELECT originator_id, originator_version, topic, state::text
FROM events
WHERE partition = 0
    AND originator_id = %(originator_id)s
    AND originator_version > coalesce(%(gt)s::bigint, -1)
    AND originator_version <= coalesce(%(lte)s::bigint, 2147483647)
ORDER BY originator_version DESC
LIMIT %(limit)s
