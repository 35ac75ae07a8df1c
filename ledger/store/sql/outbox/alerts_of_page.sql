-- The first alerts of a page. An escalation leaves out what was acknowledged in the meantime.
SELECT alert_id, kind, dedupe_key, summary, customer_id, permit_id, raised_at
FROM alerts
WHERE partition = 0
    AND (page_id = %(page_id)s OR (escalation_id = %(page_id)s AND acked_at IS NULL))
ORDER BY alert_id
LIMIT %(limit)s
