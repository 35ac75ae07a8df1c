told AS (
    SELECT e.originator_id, max(e.recorded_at) AS recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND starts_with(e.topic, 'ledger:Incident.')
    GROUP BY 1
)
SELECT (t.recorded_at AT TIME ZONE 'UTC')::date AS partition_day, v.*,
    %(upto)s::bigint AS exported_position
FROM told t
JOIN {incidents}.incidents i ON i.originator_id = t.originator_id
JOIN analytics.incidents v ON v.incident_id = i.incident_id
ORDER BY 1
