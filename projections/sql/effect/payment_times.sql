-- After how many whole days (24 hours) a reminder was followed by a payment, or was last looked at.
-- A payment counts where it succeeded from the reminder on and before the end of the time looked at.
SELECT s.stage,
    floor(extract(epoch FROM coalesce(p.paid_at, %(to)s) - s.recorded_at) / 86400)::integer AS days,
    p.paid_at IS NOT NULL AS paid, count(*) AS reminders
FROM analytics.stages s
CROSS JOIN LATERAL (
    SELECT min(y.succeeded_at) AS paid_at
    FROM analytics.payments y
    WHERE y.invoice_key = s.invoice_key AND NOT y.is_credit
        AND y.succeeded_at >= s.recorded_at AND y.succeeded_at < %(to)s
) p
WHERE s.state = 'sent' AND s.recorded_at >= %(from)s AND s.recorded_at < %(to)s
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
