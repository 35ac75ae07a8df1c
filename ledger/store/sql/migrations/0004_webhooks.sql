-- Webhooks: one row per body that could not be used, however often it came; and work to be fetched.

ALTER TABLE rejected_bodies
    ADD COLUMN reasons json,
    ADD COLUMN kinds text[],
    ADD COLUMN body_hash bytea,
    ADD COLUMN fetched text,
    ADD COLUMN copies integer NOT NULL DEFAULT 1,
    ADD COLUMN last_received_at timestamptz,
    ADD COLUMN resolved_at timestamptz,
    ADD COLUMN resolution text CHECK (resolution IN ('replayed', 'dismissed'));
UPDATE rejected_bodies SET
    reasons = json_build_array(json_build_object('kind', kind, 'detail', detail)),
    kinds = ARRAY[kind],
    body_hash = sha256(body),
    last_received_at = received_at;
DELETE FROM rejected_bodies r USING rejected_bodies earlier
    WHERE earlier.partition = r.partition AND earlier.provider = r.provider
        AND earlier.body_hash = r.body_hash AND earlier.rejected_id < r.rejected_id;
ALTER TABLE rejected_bodies
    DROP COLUMN kind,
    DROP COLUMN detail,
    ALTER COLUMN reasons SET NOT NULL,
    ALTER COLUMN kinds SET NOT NULL,
    ALTER COLUMN body_hash SET NOT NULL,
    ALTER COLUMN last_received_at SET NOT NULL;
CREATE UNIQUE INDEX rejected_bodies_once ON rejected_bodies (partition, provider, body_hash);
CREATE INDEX rejected_bodies_open ON rejected_bodies (partition, rejected_id) WHERE resolved_at IS NULL;
COMMENT ON COLUMN rejected_bodies.reasons IS 'Kind and detail of each part that could not be used; no values of the body.';
COMMENT ON COLUMN rejected_bodies.fetched IS 'The kind of object where the body is the answer of the provider''s API.';
COMMENT ON COLUMN rejected_bodies.copies IS 'How often the same bytes arrived.';

CREATE TABLE rejected_kinds (
    partition integer NOT NULL,
    provider text NOT NULL,
    kind text NOT NULL,
    episode integer NOT NULL DEFAULT 1,
    open boolean NOT NULL DEFAULT true,
    PRIMARY KEY (partition, provider, kind)
);
COMMENT ON TABLE rejected_kinds IS 'One alert per kind and episode; an episode ends when no body of the kind is open.';
INSERT INTO rejected_kinds (partition, provider, kind)
    SELECT DISTINCT partition, provider, kinds[1] FROM rejected_bodies;

CREATE TABLE refresh_work (
    partition integer NOT NULL,
    refresh_id bigint GENERATED ALWAYS AS IDENTITY,
    provider text NOT NULL,
    object_kind text NOT NULL,
    object_id text NOT NULL,
    hints integer NOT NULL DEFAULT 1,
    first_hinted_at timestamptz NOT NULL,
    last_hinted_at timestamptz NOT NULL,
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_until timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    last_error text,
    PRIMARY KEY (partition, refresh_id),
    UNIQUE (partition, provider, object_kind, object_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE refresh_work IS 'Objects that changed at a provider and that only its API can tell: one row each until fetched.';
COMMENT ON COLUMN refresh_work.hints IS 'How often it was hinted at; one that comes during a fetch asks for another.';
COMMENT ON COLUMN refresh_work.first_hinted_at IS 'By the ledger''s clock, like last_hinted_at; tries and claims go by real time.';
CREATE INDEX refresh_work_next ON refresh_work (partition, provider, next_attempt_at);
