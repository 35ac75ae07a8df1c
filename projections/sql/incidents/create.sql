-- The incidents that people declared, to be listed; one of them alone is read from the log itself.

CREATE TABLE incidents (
    originator_id uuid PRIMARY KEY,
    position bigint NOT NULL UNIQUE,
    incident_id text COLLATE "C" NOT NULL UNIQUE,
    title text NOT NULL,
    cause text NOT NULL,
    window_from timestamptz NOT NULL,
    window_to timestamptz NOT NULL,
    declared_by text NOT NULL,
    declared_at timestamptz NOT NULL,
    closed_by text,
    closed_at timestamptz
);
COMMENT ON COLUMN incidents.position IS 'Where the log tells of it.';
