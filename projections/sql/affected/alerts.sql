-- The pages about affected customers since the window began, by kind.
SELECT a.kind, count(*), min(a.raised_at), (array_agg(a.customer_id ORDER BY a.alert_id))[1],
    count(a.delivered_at), min(a.delivered_at), min(a.acked_at),
    (array_agg(a.acked_by ORDER BY a.acked_at) FILTER (WHERE a.acked_at IS NOT NULL))[1]
FROM alerts a
WHERE a.partition = 0 AND NOT a.drill AND a.raised_at >= %(from)s AND a.raised_at <= %(until)s
    AND owner_of(a.customer_id) IN (SELECT f.owner_id FROM affected f)
GROUP BY a.kind ORDER BY 3, 1
