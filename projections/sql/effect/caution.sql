-- Sends that were denied for another reason than that they had been made, and whether a mail of the
-- same kind about the same thing to the same customer went out later. A send is counted once, under
-- the reason of its first denial.
SELECT f.code, count(*) AS sends,
    count(*) FILTER (WHERE NOT EXISTS (
        SELECT FROM analytics.sends s
        WHERE s.kind = f.kind AND s.owner_customer_id = f.owner_customer_id
            AND s.granted_at >= f.decided_at AND s.counts_at IS NOT NULL
            AND (f.invoice_id IS NULL OR s.invoice_id = f.invoice_id)
            AND (f.thread_id IS NULL OR s.thread_id = f.thread_id)
    )) AS never_sent
FROM (
    SELECT DISTINCT ON (d.kind, d.owner_customer_id, d.invoice_id, d.thread_id) d.*
    FROM analytics.denials d
    WHERE d.decided_at >= %(from)s AND d.decided_at < %(to)s AND d.operation = 'permit'
        AND NOT d.is_duplicate AND NOT d.is_concurrent AND d.owner_customer_id IS NOT NULL
    ORDER BY d.kind, d.owner_customer_id, d.invoice_id, d.thread_id, d.decided_at, d.decision_id
) f
GROUP BY 1
ORDER BY 3 DESC, 2 DESC, 1
