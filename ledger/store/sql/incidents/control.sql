-- The events of the ledger's control aggregate since a time, oldest first.
SELECT e.position, e.topic, e.state, e.recorded_at
FROM events e
WHERE e.partition = 0 AND e.originator_id = %(control)s AND e.recorded_at >= %(since)s
    AND e.topic <> 'ledger:Control.Created'
ORDER BY e.originator_version LIMIT %(limit)s
