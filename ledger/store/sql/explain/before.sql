-- The events up to a position, newest first; they include those of the decision itself.
SELECT e.position, e.originator_id, e.originator_version, e.topic, e.state::text
FROM events e
WHERE e.partition = 0 AND e.position <= %(position)s AND e.position > %(position)s - %(limit)s
ORDER BY e.position DESC
