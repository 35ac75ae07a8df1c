told AS (
    SELECT e.originator_id AS invoice_key, e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND starts_with(e.topic, 'ledger:Invoice.')
    UNION ALL
    SELECT i.originator_id, v.recorded_at
    FROM moved v JOIN {invoices}.invoices i ON i.customer_id = v.customer_id
), changed AS (
    SELECT t.invoice_key, (max(t.recorded_at) AT TIME ZONE 'UTC')::date AS day
    FROM told t GROUP BY 1
)
SELECT c.day AS partition_day, i.*, %(upto)s::bigint AS exported_position
FROM changed c JOIN analytics.invoices i ON i.invoice_key = c.invoice_key
ORDER BY c.day
