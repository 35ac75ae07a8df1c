-- Copies of every invoice that the read model holds: the same in all but their names.
INSERT INTO invoices
SELECT copied.*
FROM invoices i
CROSS JOIN generate_series(2, %(copies)s) AS copy
CROSS JOIN LATERAL jsonb_populate_record(i, jsonb_build_object(
    'originator_id', md5(i.originator_id::text || copy)::uuid,
    'invoice_id', i.invoice_id || '-' || copy,
    'customer_id', i.customer_id || '-' || copy,
    'debtor_id', i.debtor_id || '-' || copy)) AS copied
