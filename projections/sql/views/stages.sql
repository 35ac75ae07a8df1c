-- Every stage on record of every invoice, one row each.
SELECT i.originator_id AS invoice_key, i.invoice_id,
    i.customer_id, coalesce(m.owner_id, i.customer_id) AS owner_customer_id,
    split_part(r.key, ':', 1)::integer AS cycle, substr(r.key, strpos(r.key, ':') + 1) AS stage,
    r.value ->> 'state' AS state, (r.value ->> 'at')::timestamptz AS recorded_at,
    (r.value ->> 'permit_id')::uuid AS permit_id
FROM {invoices}.invoices i
CROSS JOIN LATERAL jsonb_each(i.records) r
LEFT JOIN {customers}.merged m ON m.customer_id = i.customer_id
