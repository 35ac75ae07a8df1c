SELECT (e.recorded_at AT TIME ZONE 'UTC')::date AS partition_day,
    e.position AS log_position, e.originator_id AS aggregate_id,
    e.originator_version AS aggregate_version, e.topic, e.recorded_at,
    e.state::text AS state, encode(e.hash, 'hex') AS hash
FROM events e
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
ORDER BY e.position
