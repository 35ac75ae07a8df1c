-- Requests that were denied since the send had been made already, or was in other hands, by week.
SELECT date_trunc('week', d.decided_at AT TIME ZONE 'UTC')::date AS week, d.sender, d.code,
    sum(d.request_count)::bigint AS requests
FROM analytics.denials d
WHERE d.decided_at >= %(from)s AND d.decided_at < %(to)s AND (d.is_duplicate OR d.is_concurrent)
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
LIMIT %(most)s
