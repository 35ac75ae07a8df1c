-- A ledger with 1 million invoices, as bulk inserts: real ids, names and documents, a log whose
-- hashes are of no use. `names` is inserted in its order, which only makes it faster.
INSERT INTO events
SELECT 0, %(after)s + n, md5('invoice ' || n)::uuid, 1, 'ledger:Invoice.Created',
    json_build_object('timestamp', '2026-11-01T00:00:00Z', 'originator_topic', 'ledger:Invoice',
        'invoice_id', 'inv-' || n),
    '2026-11-01T00:00:00Z', sha256(n::text::bytea)
FROM generate_series(1, 1000000) AS n;

INSERT INTO events
SELECT 0, %(after)s + 1000000 + n, md5('invoice ' || n * 5)::uuid, 2, 'ledger:Invoice.RefundNoted',
    json_build_object('timestamp', '2026-11-01T00:00:00Z', 'refund_id', 're_' || n),
    '2026-11-01T00:00:00Z', sha256(n::text::bytea)
FROM generate_series(1, 200000) AS n;

INSERT INTO names
SELECT 0, 'fact', sha256(('fact ' || n)::bytea) AS hash, 'applied'
FROM generate_series(1, 400000) AS n
ORDER BY hash;

INSERT INTO permits
SELECT 0, md5('permit ' || n)::uuid, 'granted', 'cus-' || n, '2026-11-01T00:10:00Z',
    replace(%(permit)s, '00000000-0000-4000-8000-000000000000', md5('permit ' || n)::uuid::text)::json
FROM generate_series(1, 200000) AS n;

INSERT INTO invoice_owners
SELECT 0, 'cus-' || n / 4, 'inv-' || n FROM generate_series(1, 200000) AS n;

INSERT INTO idempotency
SELECT 0, sha256(('scope ' || n)::bytea), '\x00', md5('permit ' || n)::uuid, NULL, NULL,
    '2026-11-01T00:00:00Z'
FROM generate_series(1, 200000) AS n;

INSERT INTO contacts
SELECT 0, md5('address ' || n), 'cus-' || n, 'p' || n || '@example.com'
FROM generate_series(1, 200000) AS n;

INSERT INTO snapshots
SELECT 0, md5('invoice ' || n * 50)::uuid, 1, 'ledger:Invoice#0', '{}'
FROM generate_series(1, 20000) AS n;

INSERT INTO decisions
SELECT 0, md5('permit ' || n)::uuid, '2026-12-01T12:00:00Z', n, 'permit', 'key', 'poller', 'reminder',
    'cus-' || n, 'inv-' || n, NULL, 201, NULL, false, 'policy', '{}', '{}'
FROM generate_series(1, 200000) AS n;

INSERT INTO alerts (partition, dedupe_key, kind, summary, raised_at, delivered_at)
SELECT 0, 'alert ' || n, 'breaker_opened', 'a breaker opened', '2026-11-01T00:00:00Z',
    '2026-11-01T00:00:00Z'
FROM generate_series(1, 50000) AS n;
