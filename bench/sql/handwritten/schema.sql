-- The comparison with hand-written code: one row per customer to lock, and one row per send.
CREATE TABLE customers (customer_id bigint PRIMARY KEY);
INSERT INTO customers SELECT n FROM generate_series(1, 100000) AS n;
CREATE TABLE sends (
    invoice_id bigint NOT NULL,
    stage text NOT NULL,
    customer_id bigint NOT NULL REFERENCES customers,
    sent_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (invoice_id, stage)
);
CREATE INDEX sends_by_customer ON sends (customer_id, sent_at);
ANALYZE customers;
