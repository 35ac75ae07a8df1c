-- How many customers got so many mails on one day (UTC).
SELECT t.mails, count(*) AS customer_days
FROM (
    SELECT count(*) AS mails
    FROM analytics.sends s
    WHERE s.counts_at >= %(from)s AND s.counts_at < %(to)s
    GROUP BY s.owner_customer_id, (s.counts_at AT TIME ZONE 'UTC')::date
) t
GROUP BY 1
ORDER BY 1
