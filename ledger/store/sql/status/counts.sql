-- What waits for somebody, in rows of (what, of which, how many): unknown permits by age, unseen
-- alerts by kind, and the seconds since each source of facts was heard.
SELECT 'unknown', CASE
        WHEN p.send_by > now.at - interval '1 hour' THEN 'under_1h'
        WHEN p.send_by > now.at - interval '1 day' THEN '1h_to_1d'
        ELSE 'over_1d'
    END, count(*)::float8
FROM permits p, (SELECT ledger_now() AS at) now
WHERE p.partition = 0 AND p.state = 'unknown' AND NOT starts_with(p.customer_id, 'ledger-probe-')
GROUP BY 2
UNION ALL
SELECT 'unseen', a.kind, count(*)::float8 FROM alerts a
WHERE a.partition = 0 AND a.acked_at IS NULL AND NOT a.drill
GROUP BY 2
UNION ALL
(SELECT 'feed', f.source, extract(epoch FROM ledger_now() - f.last_heard_at)::float8 FROM feeds f
WHERE f.partition = 0
ORDER BY f.last_heard_at DESC LIMIT 50)
