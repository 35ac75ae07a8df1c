-- What became of the invoices that were reminded of, by the last reminder of each.
SELECT r.stage, i.status, i.currency, count(*) AS invoices,
    sum(i.balance_minor_units)::bigint AS balance_minor_units
FROM (
    SELECT DISTINCT ON (s.invoice_key) s.invoice_key, s.stage
    FROM analytics.stages s
    WHERE s.state = 'sent' AND s.recorded_at >= %(from)s AND s.recorded_at < %(to)s
    ORDER BY s.invoice_key, s.recorded_at DESC, s.cycle DESC, s.stage
) r
JOIN analytics.invoices i ON i.invoice_key = r.invoice_key
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
