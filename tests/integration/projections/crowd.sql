-- Read models of a ledger with 1 million open invoices, straight into their tables: every 50th
-- customer has mails, and three of four invoices are due since one and the same midnight.
INSERT INTO customers
SELECT lpad(to_hex(n), 32, '0')::uuid, 'cus_' || lpad(n::text, 7, '0'), ARRAY[md5('address ' || n)],
    '{}', NULL, NULL, NULL, false, NULL, NULL, '{}'
FROM generate_series(1, 500000) AS n;

INSERT INTO mails
SELECT ('f' || lpad(to_hex(n), 31, '0'))::uuid, 'cus_' || lpad((n / 4 * 50)::text, 7, '0'),
    'cus_' || lpad((n / 4 * 50)::text, 7, '0'), 'reminder', 'outreach', 'poller', false, false,
    '2026-12-01T12:00:00Z'::timestamptz - n % 4 * interval '20 hours',
    '2026-12-01T12:10:00Z'::timestamptz - n % 4 * interval '20 hours', 'sent', NULL,
    '2026-12-01T12:00:00Z'::timestamptz - n % 4 * interval '20 hours'
FROM generate_series(4, 40003) AS n;

INSERT INTO invoices
SELECT lpad(to_hex(n), 32, '0')::uuid, 'inv_' || n, customer, customer, 'USD', 30000, 30000, 'open',
    NULL, '2026-11-01', 'UTC', 1, '2026-11-01', NULL, false, false, NULL, NULL, NULL, '{}', '{}',
    '{1,2,3}', NULL, due_at
FROM (
    SELECT n, 'cus_' || lpad(((n + 1) / 2)::text, 7, '0') AS customer,
        CASE
            WHEN n <= 600 THEN '2026-11-01T00:00:00Z'::timestamptz
            WHEN n % 4 > 0 THEN '2026-12-01T00:00:00Z'
            ELSE '2026-12-08T00:00:00Z' END AS due_at
    FROM generate_series(1, 1000000) AS n
) made;
