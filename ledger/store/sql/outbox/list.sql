-- Alerts, newest first, each with the state of the page that contains it.
SELECT
    a.alert_id, a.kind, a.dedupe_key, a.summary, a.customer_id, a.permit_id, a.drill, a.raised_at,
    a.delivered_at, a.acked_at, a.acked_by, a.escalated_at,
    coalesce(p.attempts, 0), p.last_error
FROM alerts a LEFT JOIN pages p ON p.partition = a.partition AND p.page_id = a.page_id
WHERE a.partition = 0
    AND (%(alert_id)s::bigint IS NULL OR a.alert_id = %(alert_id)s)
    AND (%(before)s::bigint IS NULL OR a.alert_id < %(before)s)
    AND (%(kind)s::text IS NULL OR a.kind = %(kind)s)
    AND (NOT %(unacked)s OR (a.acked_at IS NULL AND NOT a.drill))
ORDER BY a.alert_id DESC
LIMIT %(limit)s
