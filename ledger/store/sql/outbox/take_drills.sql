-- Each drill is a separate page and is due at once.
WITH drills AS (
    SELECT alert_id, dedupe_key FROM alerts WHERE partition = 0 AND page_id IS NULL AND drill
), made AS (
    INSERT INTO pages (partition, reason, dedupe_key)
    SELECT 0, 'drill', dedupe_key FROM drills
    RETURNING page_id, dedupe_key
)
UPDATE alerts SET page_id = made.page_id
FROM drills JOIN made USING (dedupe_key)
WHERE alerts.partition = 0 AND alerts.alert_id = drills.alert_id
