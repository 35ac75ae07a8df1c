-- Feeds: when each source of facts was heard, and what became of what it told.

CREATE TABLE feeds (
    partition integer NOT NULL,
    source text COLLATE "C" NOT NULL,
    first_heard_at timestamptz NOT NULL,
    last_heard_at timestamptz NOT NULL,
    tells_of_money boolean NOT NULL,
    applied bigint NOT NULL,
    duplicate bigint NOT NULL,
    stale bigint NOT NULL,
    ignored bigint NOT NULL,
    rejected bigint NOT NULL,
    silence_noted_at timestamptz,
    PRIMARY KEY (partition, source)
) WITH (fillfactor = 70);
COMMENT ON TABLE feeds IS 'Sources of facts. Written every few seconds, not with each fact: seconds of it may get lost.';
COMMENT ON COLUMN feeds.last_heard_at IS 'By the ledger''s clock, like first_heard_at and silence_noted_at.';
COMMENT ON COLUMN feeds.tells_of_money IS 'It has told of invoices, payments or credits: reminders rest on it.';
COMMENT ON COLUMN feeds.applied IS 'How many of its facts had this result; the same for the columns after it.';
COMMENT ON COLUMN feeds.silence_noted_at IS 'Since when the log says that it is silent; null while it is heard.';
