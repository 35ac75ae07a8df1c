-- Copies of every customer, each with an address of its own.
INSERT INTO customers
SELECT copied.*
FROM customers c
CROSS JOIN generate_series(2, %(copies)s) AS copy
CROSS JOIN LATERAL jsonb_populate_record(c, jsonb_build_object(
    'originator_id', md5(c.originator_id::text || copy)::uuid,
    'customer_id', c.customer_id || '-' || copy,
    'addresses', ARRAY[c.addresses[1] || '-' || copy])) AS copied
