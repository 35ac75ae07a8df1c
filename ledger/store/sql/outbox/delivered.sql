-- One target received the page. The first target's delivery marks the page as sent.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS real, ledger_now() AS ledger
), had AS (
    INSERT INTO page_deliveries (partition, page_id, target)
    VALUES (0, %(page_id)s, %(target)s)
    ON CONFLICT DO NOTHING
), gone AS (
    UPDATE pages SET left_at = clock.real, left_ledger_at = clock.ledger
    FROM clock
    WHERE pages.partition = 0 AND pages.page_id = %(page_id)s AND pages.left_at IS NULL
    RETURNING page_id, reason, clock.ledger
)
UPDATE alerts
SET delivered_at = CASE gone.reason WHEN 'escalation' THEN delivered_at ELSE gone.ledger END,
    escalated_at = CASE gone.reason WHEN 'escalation' THEN gone.ledger END
FROM gone
WHERE alerts.partition = 0
    AND (alerts.page_id = gone.page_id
        OR (alerts.escalation_id = gone.page_id AND alerts.acked_at IS NULL))
