-- Payments, threads and observed mails as the log tells of them: what analysts ask and no other read model keeps.

CREATE TABLE payments (
    originator_id uuid NOT NULL,
    is_credit boolean NOT NULL,
    payment_id text COLLATE "C" NOT NULL,
    state text NOT NULL,
    amount bigint NOT NULL,
    at timestamptz NOT NULL,
    place smallint NOT NULL,
    first_at timestamptz NOT NULL,
    succeeded_at timestamptz,
    reversed_at timestamptz,
    position bigint NOT NULL,
    PRIMARY KEY (originator_id, is_credit, payment_id)
);
COMMENT ON TABLE payments IS 'Payments and credits of invoices, as the latest word on each has it.';
COMMENT ON COLUMN payments.place IS 'The order of words of one instant: lives() in ledger/domain/payments.py.';
COMMENT ON COLUMN payments.position IS 'Where the log tells of it last.';

CREATE TABLE threads (
    originator_id uuid PRIMARY KEY,
    thread_id text COLLATE "C" NOT NULL UNIQUE,
    customer_id text COLLATE "C",
    created_at timestamptz NOT NULL,
    position bigint NOT NULL
);
COMMENT ON TABLE threads IS 'Mail threads and whose they are; null where nobody has told.';

CREATE TABLE messages (
    originator_id uuid NOT NULL,
    message_hash bytea NOT NULL,
    is_inbound boolean NOT NULL,
    is_automatic boolean NOT NULL,
    seen_at timestamptz NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (originator_id, message_hash)
);
COMMENT ON TABLE messages IS 'Messages of threads, by the sha256 of their Message-ID, as told last.';

CREATE TABLE observed_mails (
    permit_id uuid PRIMARY KEY,
    invoice_id text,
    thread_id text,
    incident_id text
);
COMMENT ON TABLE observed_mails IS 'What mails were about that went out past the ledger: they have no row in permits.';
