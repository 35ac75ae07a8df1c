-- The log and the write-side look-ups. Every primary key and unique index begins with `partition`
-- (always 0 now), so that a schema of this shape can be spread over nodes later (design D3).

CREATE TABLE partitions (
    partition integer PRIMARY KEY
);
COMMENT ON TABLE partitions IS 'The writer lock of each partition: SELECT ... FOR UPDATE, never updated.';
INSERT INTO partitions VALUES (0);

CREATE TABLE clock (
    partition integer PRIMARY KEY REFERENCES partitions,
    test_now timestamptz
);
COMMENT ON TABLE clock IS 'The test clock of a staging ledger; null on a real one.';
INSERT INTO clock VALUES (0, NULL);

CREATE FUNCTION ledger_now() RETURNS timestamptz
    LANGUAGE sql VOLATILE PARALLEL RESTRICTED
    AS $$ SELECT coalesce((SELECT test_now FROM clock WHERE partition = 0), clock_timestamp()) $$;

CREATE TABLE events (
    partition integer NOT NULL,
    position bigint NOT NULL,
    originator_id uuid NOT NULL,
    originator_version integer NOT NULL,
    topic text NOT NULL,
    state json NOT NULL,
    recorded_at timestamptz NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (partition, position),
    UNIQUE (partition, originator_id, originator_version)
);
COMMENT ON TABLE events IS 'The log: append-only, positions gap-free and in commit order.';
COMMENT ON COLUMN events.hash IS 'sha256 over the hash before it and what is stored, fields length-prefixed.';

CREATE FUNCTION refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;
CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE snapshots (
    partition integer NOT NULL,
    originator_id uuid NOT NULL,
    originator_version integer NOT NULL,
    topic text NOT NULL,
    state json NOT NULL,
    PRIMARY KEY (partition, originator_id)
);
COMMENT ON TABLE snapshots IS 'A cache: the latest snapshot of long aggregates. Safe to empty.';

CREATE TABLE names (
    partition integer NOT NULL,
    kind text NOT NULL,
    name_hash bytea NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (partition, kind, name_hash)
);
COMMENT ON TABLE names IS 'Look-ups by outside names: facts, message ids, addresses. First claim wins.';

CREATE TABLE permits (
    partition integer NOT NULL,
    permit_id uuid NOT NULL,
    state text NOT NULL,
    customer_id text NOT NULL,
    send_by timestamptz NOT NULL,
    doc json NOT NULL,
    PRIMARY KEY (partition, permit_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE permits IS 'The latest state of each permit, as the events tell it.';
CREATE INDEX permits_unsettled ON permits (partition, state, send_by)
    WHERE state IN ('granted', 'redeemed', 'unknown');

CREATE TABLE decisions (
    partition integer NOT NULL,
    decision_id uuid NOT NULL,
    decided_at timestamptz NOT NULL,
    position bigint NOT NULL,
    operation text NOT NULL,
    key_id text NOT NULL,
    sender text NOT NULL,
    kind text,
    customer_id text,
    invoice_id text,
    thread_id text,
    status smallint NOT NULL,
    code text,
    replayed boolean NOT NULL,
    policy text NOT NULL,
    request json NOT NULL,
    answer json NOT NULL,
    PRIMARY KEY (partition, decision_id, decided_at)
) PARTITION BY RANGE (decided_at);
COMMENT ON TABLE decisions IS 'One row per answer, granted or denied, split by month (design D11).';
CREATE INDEX decisions_by_customer ON decisions (partition, customer_id, decided_at);

CREATE TABLE idempotency (
    partition integer NOT NULL,
    scope bytea NOT NULL,
    fingerprint bytea NOT NULL,
    permit_id uuid,
    status smallint,
    body bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (partition, scope)
);
COMMENT ON TABLE idempotency IS 'What an Idempotency-Key is bound to, under the digest of its scope.';
CREATE INDEX idempotency_by_age ON idempotency (partition, created_at);

CREATE TABLE contacts (
    partition integer NOT NULL,
    fingerprint text NOT NULL,
    customer_id text NOT NULL,
    address text NOT NULL,
    PRIMARY KEY (partition, fingerprint, customer_id)
);
COMMENT ON TABLE contacts IS 'The addresses, outside the log, so that they can be erased (design D18).';
CREATE INDEX contacts_by_customer ON contacts (partition, customer_id);

CREATE TABLE invoice_owners (
    partition integer NOT NULL,
    customer_id text NOT NULL,
    invoice_id text NOT NULL,
    PRIMARY KEY (partition, customer_id, invoice_id)
);
COMMENT ON TABLE invoice_owners IS 'Which invoices ever named a customer, for statements under the writer lock.';

CREATE TABLE alerts (
    partition integer NOT NULL,
    alert_id bigint GENERATED ALWAYS AS IDENTITY,
    dedupe_key text NOT NULL,
    kind text NOT NULL,
    summary text NOT NULL,
    customer_id text,
    permit_id text,
    drill boolean NOT NULL DEFAULT false,
    raised_at timestamptz NOT NULL,
    claimed_until timestamptz,
    next_attempt_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    last_error text,
    delivered_at timestamptz,
    delivered_with bigint,
    acked_at timestamptz,
    acked_by text,
    escalated_at timestamptz,
    PRIMARY KEY (partition, alert_id),
    UNIQUE (partition, dedupe_key)
);
COMMENT ON TABLE alerts IS 'The outbox of pages: written with the decision, delivered at least once (D11).';
COMMENT ON COLUMN alerts.delivered_with IS 'The alert in whose summary this one left.';
CREATE INDEX alerts_undelivered ON alerts (partition, alert_id) WHERE delivered_at IS NULL;
CREATE INDEX alerts_unacked ON alerts (partition, delivered_at)
    WHERE acked_at IS NULL AND escalated_at IS NULL AND NOT drill;

CREATE TABLE keys (
    partition integer NOT NULL,
    key_id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    redeem_required boolean NOT NULL,
    intents text[],
    transactional boolean NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    PRIMARY KEY (partition, key_id),
    UNIQUE (partition, hash)
);
COMMENT ON TABLE keys IS 'API keys, as the sha256 of their secret.';

CREATE TABLE policies (
    partition integer NOT NULL,
    version text NOT NULL,
    policy json NOT NULL,
    first_used_at timestamptz NOT NULL,
    PRIMARY KEY (partition, version)
);
COMMENT ON TABLE policies IS 'The text of every policy that a decision names.';

CREATE TABLE settings (
    partition integer NOT NULL,
    name text NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (partition, name)
);
COMMENT ON TABLE settings IS 'Facts about this ledger itself: the check value of its secret, its epoch.';

CREATE TABLE rejected_bodies (
    partition integer NOT NULL,
    rejected_id bigint GENERATED ALWAYS AS IDENTITY,
    provider text NOT NULL,
    kind text NOT NULL,
    detail text NOT NULL,
    headers json NOT NULL,
    body bytea NOT NULL,
    received_at timestamptz NOT NULL,
    replayed_at timestamptz,
    PRIMARY KEY (partition, rejected_id)
);
COMMENT ON TABLE rejected_bodies IS 'Webhook bodies that could not be used, kept to be replayed after a fix.';
CREATE INDEX rejected_bodies_by_age ON rejected_bodies (partition, received_at);
