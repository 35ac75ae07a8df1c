-- Alerts that nobody acknowledged in time are paged once more, all in one message with the dedupe
-- key of its oldest page. The time limit passes by either clock, as the summary window does.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS real, ledger_now() AS ledger
), late AS (
    SELECT a.alert_id, p.page_id, p.dedupe_key
    FROM clock, alerts a JOIN pages p ON p.partition = a.partition AND p.page_id = a.page_id
    WHERE a.partition = 0 AND a.acked_at IS NULL AND a.escalation_id IS NULL AND NOT a.drill
        AND a.delivered_at IS NOT NULL
        AND (clock.ledger >= a.delivered_at + %(escalation)s OR clock.real >= p.left_at + %(escalation)s)
), made AS (
    INSERT INTO pages (partition, reason, dedupe_key)
    SELECT 0, 'escalation', (array_agg(dedupe_key ORDER BY page_id))[1]
    FROM late
    HAVING count(*) > 0
    RETURNING page_id
)
UPDATE alerts SET escalation_id = made.page_id
FROM late, made
WHERE alerts.partition = 0 AND alerts.alert_id = late.alert_id
