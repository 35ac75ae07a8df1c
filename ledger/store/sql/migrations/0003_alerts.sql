-- Pages: the messages in which alerts leave the process. One page may carry many alerts (a summary,
-- design D8) and goes to many targets, so claims, tries and deliveries are its own, not an alert's.

CREATE TABLE pages (
    partition integer NOT NULL,
    page_id bigint GENERATED ALWAYS AS IDENTITY,
    reason text NOT NULL CHECK (reason IN ('alert', 'summary', 'escalation', 'drill')),
    dedupe_key text NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_until timestamptz,
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts integer NOT NULL DEFAULT 0,
    last_error text,
    left_at timestamptz,
    left_ledger_at timestamptz,
    done_at timestamptz,
    PRIMARY KEY (partition, page_id),
    UNIQUE (partition, reason, dedupe_key)
) WITH (fillfactor = 80);
COMMENT ON TABLE pages IS 'The outbox: messages to people, delivered at least once to each target (D11).';
COMMENT ON COLUMN pages.attempts IS 'How often it was claimed; also the token of the latest claim.';
COMMENT ON COLUMN pages.left_at IS 'Real time at which the first target had it.';
COMMENT ON COLUMN pages.left_ledger_at IS 'The same moment by the ledger''s clock.';
COMMENT ON COLUMN pages.done_at IS 'Real time at which every target had it, or a drill was given up.';
CREATE INDEX pages_open ON pages (partition, page_id) WHERE done_at IS NULL;

CREATE TABLE page_deliveries (
    partition integer NOT NULL,
    page_id bigint NOT NULL,
    target text NOT NULL,
    delivered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (partition, page_id, target),
    FOREIGN KEY (partition, page_id) REFERENCES pages
);
COMMENT ON TABLE page_deliveries IS 'Which target, by the fingerprint of its URL, has had which page.';

DROP INDEX alerts_undelivered, alerts_unacked;
ALTER TABLE alerts
    DROP COLUMN claimed_until,
    DROP COLUMN next_attempt_at,
    DROP COLUMN attempts,
    DROP COLUMN last_error,
    DROP COLUMN delivered_with,
    ADD COLUMN noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ADD COLUMN page_id bigint,
    ADD COLUMN escalation_id bigint;
COMMENT ON TABLE alerts IS 'What people must hear of: written with the decision, carried by pages.';
COMMENT ON COLUMN alerts.raised_at IS 'By the ledger''s clock, like delivered_at, acked_at and escalated_at.';
COMMENT ON COLUMN alerts.noted_at IS 'Real time at which it was written.';
COMMENT ON COLUMN alerts.page_id IS 'The page that carries it; null while it is held for a summary.';
COMMENT ON COLUMN alerts.escalation_id IS 'The page that carries it once more.';
CREATE INDEX alerts_unpaged ON alerts (partition, alert_id) WHERE page_id IS NULL;
CREATE INDEX alerts_unanswered ON alerts (partition, delivered_at)
    WHERE acked_at IS NULL AND escalation_id IS NULL AND NOT drill;
CREATE INDEX alerts_by_page ON alerts (partition, page_id);
CREATE INDEX alerts_by_escalation ON alerts (partition, escalation_id) WHERE escalation_id IS NOT NULL;
CREATE INDEX alerts_drills ON alerts (partition, customer_id) WHERE drill;
