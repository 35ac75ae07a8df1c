told AS (
    SELECT e.originator_id AS invoice_key, e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN ('ledger:Invoice.MoneyMoved', 'ledger:Invoice.Observed')
    UNION ALL
    SELECT i.originator_id, v.recorded_at
    FROM moved v JOIN {invoices}.invoices i ON i.customer_id = v.customer_id
), changed AS (
    SELECT t.invoice_key, (max(t.recorded_at) AT TIME ZONE 'UTC')::date AS day
    FROM told t GROUP BY 1
)
SELECT c.day AS partition_day, p.*, %(upto)s::bigint AS exported_position
FROM changed c JOIN analytics.payments p ON p.invoice_key = c.invoice_key
ORDER BY c.day
