-- The summary rule (design D8): the first alert is sent at once. Alerts raised within the window
-- after the last page was sent are held and sent together at the end of the window. The window is
-- over when it has passed by either clock: a stopped test clock must not hold pages back, and a
-- moved one must not delay a drill. While the last page is not delivered to any target, later ones
-- wait for it, but not longer than `patience`.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS real, ledger_now() AS ledger
), last AS (
    SELECT taken_at, left_at, left_ledger_at FROM pages
    WHERE partition = 0 AND reason IN ('alert', 'summary')
    ORDER BY page_id DESC
    LIMIT 1
), waiting AS (
    SELECT alert_id, dedupe_key, raised_at, noted_at FROM alerts
    WHERE partition = 0 AND page_id IS NULL AND NOT drill
), rule AS (
    SELECT
        NOT EXISTS (SELECT FROM last)
        OR EXISTS (
            SELECT FROM last, clock
            WHERE CASE
                WHEN left_at IS NULL THEN clock.real >= taken_at + %(patience)s
                ELSE clock.real >= left_at + %(window)s OR clock.ledger >= left_ledger_at + %(window)s
            END
        ) AS free,
        EXISTS (
            SELECT FROM last, waiting
            WHERE left_at IS NULL
                OR (noted_at < left_at + %(window)s AND raised_at < left_ledger_at + %(window)s)
        ) AS held
), chosen AS (
    SELECT alert_id, dedupe_key FROM waiting, rule
    WHERE free AND (held OR alert_id = (SELECT min(alert_id) FROM waiting))
), made AS (
    INSERT INTO pages (partition, reason, dedupe_key)
    SELECT
        0,
        CASE count(*) WHEN 1 THEN 'alert' ELSE 'summary' END,
        CASE count(*) WHEN 1 THEN '' ELSE 'summary:' END
            || (array_agg(dedupe_key ORDER BY alert_id))[1]
    FROM chosen
    HAVING count(*) > 0
    RETURNING page_id
)
UPDATE alerts SET page_id = made.page_id
FROM chosen, made
WHERE alerts.partition = 0 AND alerts.alert_id = chosen.alert_id
