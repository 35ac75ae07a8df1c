-- The number of alerts of each kind in a page, most frequent first.
SELECT kind, count(*)
FROM alerts
WHERE partition = 0
    AND (page_id = %(page_id)s OR (escalation_id = %(page_id)s AND acked_at IS NULL))
GROUP BY kind
ORDER BY count(*) DESC, kind
