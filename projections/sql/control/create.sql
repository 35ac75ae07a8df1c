-- The generations of the read models and the pointers to the live ones (design D15).
-- A generation is a schema of its own, `projection_<name>_<generation>`, so that the same files
-- serve every generation and a switch is one row. Run under an advisory lock, any number of times.

CREATE TABLE IF NOT EXISTS projection_generations (
    partition integer NOT NULL,
    name text NOT NULL,
    generation integer NOT NULL,
    version integer NOT NULL,
    policy text NOT NULL,
    state text NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    position bigint NOT NULL DEFAULT 0,
    failed_position bigint,
    error text,
    PRIMARY KEY (partition, name, generation)
) WITH (fillfactor = 50);
COMMENT ON TABLE projection_generations IS
    'Each generation of a read model and its checkpoint: the position of the log that it has taken in.';
COMMENT ON COLUMN projection_generations.version IS 'The version of its tables and statements.';
COMMENT ON COLUMN projection_generations.policy IS 'The digest of the policy that it was computed by.';

CREATE TABLE IF NOT EXISTS projections (
    partition integer NOT NULL,
    name text NOT NULL,
    generation integer NOT NULL,
    PRIMARY KEY (partition, name),
    FOREIGN KEY (partition, name, generation) REFERENCES projection_generations
);
COMMENT ON TABLE projections IS 'Which generation of a read model is the live one.';

CREATE OR REPLACE FUNCTION projection_schema(name text, generation integer) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT 'projection_' || name || '_' || generation $$;

-- The schema of the log itself, which stays on the path behind the read models.
CREATE OR REPLACE FUNCTION ledger_schema() RETURNS text
    LANGUAGE sql STABLE
    AS $$
        SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = 'projection_generations'::regclass
    $$;

-- From here to the end of the transaction the tables of that generation go by their plain names.
CREATE OR REPLACE FUNCTION enter_generation(name text, generation integer) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    PERFORM set_config(
        'search_path',
        quote_ident(projection_schema(name, generation)) || ', ' || quote_ident(ledger_schema()),
        true);
END $$;

-- From here to the end of the transaction the tables of every live read model go by their plain
-- names. The shared lock keeps a generation that was just replaced from being dropped meanwhile.
CREATE OR REPLACE FUNCTION enter_projections() RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
DECLARE
    path text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(7203412883);
    -- A statement of its own: it must see the pointers as they are once the lock is held.
    SELECT string_agg(quote_ident(projection_schema(p.name, p.generation)), ', ' ORDER BY p.name)
        INTO path FROM projections p WHERE p.partition = 0;
    PERFORM set_config('search_path', concat_ws(', ', path, quote_ident(ledger_schema())), true);
    -- A statement that was planned while its tables were empty must not keep such a plan.
    PERFORM set_config('enable_seqscan', 'off', true);
    PERFORM set_config('enable_bitmapscan', 'off', true);
    -- The penalty for what is off would make the planner think that compiling pays.
    PERFORM set_config('jit', 'off', true);
END $$;
