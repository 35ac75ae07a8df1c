-- The drills of this customer: how many, how many are done, the last error, and the targets that
-- received all of them.
WITH drills AS (
    SELECT p.page_id, p.done_at, p.last_error
    FROM alerts a JOIN pages p ON p.partition = a.partition AND p.page_id = a.page_id
    WHERE a.partition = 0 AND a.drill AND a.customer_id = %(customer_id)s
)
SELECT
    (SELECT count(*) FROM drills),
    (SELECT count(*) FROM drills WHERE done_at IS NOT NULL),
    (SELECT string_agg(last_error, '; ') FROM drills),
    ARRAY(
        SELECT d.target FROM page_deliveries d JOIN drills USING (page_id)
        WHERE d.partition = 0
        GROUP BY d.target
        HAVING count(*) = (SELECT count(*) FROM drills)
    )
