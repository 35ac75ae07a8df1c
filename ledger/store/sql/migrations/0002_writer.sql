-- The functions of the writer: one round trip to begin a batch, one to write it (design D4).

CREATE FUNCTION begin_batch(
    OUT head_position bigint,
    OUT head_hash bytea,
    OUT head_recorded_at timestamptz,
    OUT read_at timestamptz,
    OUT is_test_clock boolean,
    OUT keys_version bigint
)
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    PERFORM 1 FROM partitions p WHERE p.partition = 0 FOR UPDATE;
    -- Separate statements: one that waited for the lock still sees the time and the rows from
    -- before its wait (design D3, D16).
    SELECT e.position, e.hash, e.recorded_at INTO head_position, head_hash, head_recorded_at
        FROM events e WHERE e.partition = 0 ORDER BY e.position DESC LIMIT 1;
    SELECT c.test_now IS NOT NULL, coalesce(c.test_now, clock_timestamp())
        INTO is_test_clock, read_at FROM clock c WHERE c.partition = 0;
    SELECT s.value::bigint INTO keys_version FROM settings s
        WHERE s.partition = 0 AND s.name = 'keys_version';
END $$;

CREATE FUNCTION ensure_decision_part(at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
DECLARE
    month timestamptz := date_trunc('month', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    after timestamptz := (date_trunc('month', at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
    part text := 'decisions_' || to_char(at AT TIME ZONE 'UTC', 'YYYY_MM');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    -- ATTACH takes a weaker lock on the parent than CREATE ... PARTITION OF, which would block
    -- inserts (design D11).
    EXECUTE format('CREATE TABLE %I (LIKE decisions INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
    EXECUTE format('ALTER TABLE decisions ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, month, after);
END $$;

-- Events, decisions and permits come as arguments of their own: each `->` on one large json parses
-- all of it again. What few batches have comes in `rest`.
CREATE FUNCTION append_batch(
    new_events json DEFAULT NULL,
    new_decisions json DEFAULT NULL,
    changed_permits json DEFAULT NULL,
    rest json DEFAULT NULL
) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    IF new_events IS NOT NULL THEN
        INSERT INTO events
            SELECT 0, p, o, v, t, s::json, r, decode(h, 'hex')
            FROM json_to_recordset(new_events)
                AS x(p bigint, o uuid, v integer, t text, s text, r timestamptz, h text);
    END IF;
    IF new_decisions IS NOT NULL THEN
        INSERT INTO decisions
            SELECT 0, i, a, p, o, k, n, d, c, v, t, s, e, y, l, q::json, w::json
            FROM json_to_recordset(new_decisions)
                AS x(i uuid, a timestamptz, p bigint, o text, k text, n text, d text, c text, v text,
                     t text, s smallint, e text, y boolean, l text, q text, w text);
    END IF;
    IF changed_permits IS NOT NULL THEN
        INSERT INTO permits
            SELECT 0, i, s, c, b, d::json
            FROM json_to_recordset(changed_permits)
                AS x(i uuid, s text, c text, b timestamptz, d text)
            ON CONFLICT (partition, permit_id) DO UPDATE
                SET state = excluded.state, customer_id = excluded.customer_id, doc = excluded.doc;
    END IF;
    IF rest IS NULL THEN
        RETURN;
    END IF;
    IF rest -> 'claims' IS NOT NULL THEN
        INSERT INTO names
            SELECT 0, k, decode(h, 'hex'), t
            FROM json_to_recordset(rest -> 'claims') AS x(k text, h text, t text)
            ON CONFLICT DO NOTHING;
    END IF;
    IF rest -> 'names' IS NOT NULL THEN
        INSERT INTO names
            SELECT 0, k, decode(h, 'hex'), t
            FROM json_to_recordset(rest -> 'names') AS x(k text, h text, t text)
            ON CONFLICT (partition, kind, name_hash) DO UPDATE SET target = excluded.target;
    END IF;
    IF rest -> 'bindings' IS NOT NULL THEN
        INSERT INTO idempotency
            SELECT 0, decode(s, 'hex'), decode(f, 'hex'), p, t, decode(b, 'base64'), a
            FROM json_to_recordset(rest -> 'bindings')
                AS x(s text, f text, p uuid, t smallint, b text, a timestamptz)
            ON CONFLICT (partition, scope) DO UPDATE
                SET fingerprint = excluded.fingerprint, permit_id = excluded.permit_id,
                    status = excluded.status, body = excluded.body, created_at = excluded.created_at;
    END IF;
    -- Before the new contacts, which were told after it.
    IF rest -> 'forgotten' IS NOT NULL THEN
        DELETE FROM contacts
            WHERE partition = 0 AND customer_id IN (SELECT json_array_elements_text(rest -> 'forgotten'));
    END IF;
    IF rest -> 'contacts' IS NOT NULL THEN
        INSERT INTO contacts
            SELECT 0, f, c, a
            FROM json_to_recordset(rest -> 'contacts') AS x(f text, c text, a text)
            ON CONFLICT (partition, fingerprint, customer_id) DO UPDATE SET address = excluded.address;
    END IF;
    IF rest -> 'owners' IS NOT NULL THEN
        INSERT INTO invoice_owners
            SELECT 0, c, i
            FROM json_to_recordset(rest -> 'owners') AS x(c text, i text)
            ON CONFLICT DO NOTHING;
    END IF;
    IF rest -> 'alerts' IS NOT NULL THEN
        INSERT INTO alerts (partition, dedupe_key, kind, summary, customer_id, permit_id, drill, raised_at)
            SELECT 0, k, n, s, c, p, d, a
            FROM json_to_recordset(rest -> 'alerts')
                AS x(k text, n text, s text, c text, p text, d boolean, a timestamptz)
            ON CONFLICT (partition, dedupe_key) DO NOTHING;
    END IF;
    IF rest -> 'snapshots' IS NOT NULL THEN
        INSERT INTO snapshots
            SELECT 0, o, v, t, s::json
            FROM json_to_recordset(rest -> 'snapshots') AS x(o uuid, v integer, t text, s text)
            ON CONFLICT (partition, originator_id) DO UPDATE
                SET originator_version = excluded.originator_version, topic = excluded.topic,
                    state = excluded.state;
    END IF;
END $$;
