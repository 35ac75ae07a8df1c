told AS (
    SELECT e.originator_id, e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN ('ledger:Thread.Created', 'ledger:Thread.Moved', 'ledger:Thread.MessageSeen')
    UNION ALL
    SELECT t.originator_id, v.recorded_at
    FROM moved v JOIN {analytics}.threads t ON t.customer_id = v.customer_id
), changed AS (
    SELECT t.originator_id, (max(t.recorded_at) AT TIME ZONE 'UTC')::date AS day
    FROM told t GROUP BY 1
)
SELECT c.day AS partition_day, v.*, %(upto)s::bigint AS exported_position
FROM changed c
JOIN {analytics}.threads t ON t.originator_id = c.originator_id
JOIN analytics.threads v ON v.thread_id = t.thread_id
ORDER BY c.day
