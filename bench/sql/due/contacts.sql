-- The addresses of the copied customers.
INSERT INTO contacts
SELECT copied.*
FROM contacts c
CROSS JOIN generate_series(2, %(copies)s) AS copy
CROSS JOIN LATERAL jsonb_populate_record(c, jsonb_build_object(
    'fingerprint', c.fingerprint || '-' || copy,
    'customer_id', c.customer_id || '-' || copy,
    'address', copy || '-' || c.address)) AS copied
