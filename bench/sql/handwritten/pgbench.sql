\set customer random(1, 100000)
\set invoice random(1, 1000000000000)
BEGIN;
SELECT 1 FROM customers WHERE customer_id = :customer FOR UPDATE;
SELECT count(*) AS used FROM sends
    WHERE customer_id = :customer AND sent_at > now() - interval '24 hours' \gset
\set free :used < 2
\if :free
INSERT INTO sends (invoice_id, stage, customer_id) VALUES (:invoice, 'day-3', :customer)
    ON CONFLICT DO NOTHING;
\endif
COMMIT;
