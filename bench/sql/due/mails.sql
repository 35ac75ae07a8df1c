-- Copies of every mail, to the copies of its customer.
INSERT INTO mails
SELECT copied.*
FROM mails m
CROSS JOIN generate_series(2, %(copies)s) AS copy
CROSS JOIN LATERAL jsonb_populate_record(m, jsonb_build_object(
    'permit_id', md5(m.permit_id::text || copy)::uuid,
    'customer_id', m.customer_id || '-' || copy,
    'owner_id', m.owner_id || '-' || copy)) AS copied
