-- Whether alerts have to be put into pages, and how many alerts and pages are not delivered yet.
SELECT
    EXISTS (SELECT FROM alerts WHERE partition = 0 AND page_id IS NULL)
    OR EXISTS (
        SELECT FROM alerts
        WHERE partition = 0 AND acked_at IS NULL AND escalation_id IS NULL AND NOT drill
            AND delivered_at IS NOT NULL
    ),
    (SELECT count(*) FROM alerts WHERE partition = 0 AND page_id IS NULL)
    + (SELECT count(*) FROM pages WHERE partition = 0 AND done_at IS NULL)
