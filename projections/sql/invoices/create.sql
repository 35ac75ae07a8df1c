-- Invoices as the log tells of them, and from when each is newly due (design D7).

CREATE TABLE policy (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    time_zone text NOT NULL,
    stage_names text[] NOT NULL,
    stage_days integer[] NOT NULL,
    stage_floors integer[] NOT NULL,
    gap_days integer NOT NULL,
    catch_up text NOT NULL,
    adopt_before date,
    rejections_before_hold integer NOT NULL,
    smallest_amounts jsonb NOT NULL,
    snapshot_max_age integer NOT NULL,
    remind_after_subscription_end boolean NOT NULL
);
COMMENT ON TABLE policy IS 'The part of the policy by which this generation was computed; one row.';

CREATE TABLE invoices (
    originator_id uuid PRIMARY KEY,
    invoice_id text NOT NULL,
    customer_id text,
    debtor_id text COLLATE "C",
    currency text,
    total bigint,
    balance bigint NOT NULL,
    status text NOT NULL,
    issued_on date,
    due_on date,
    zone text,
    cycle integer NOT NULL,
    starts_on date,
    reopened_on date,
    run_ended boolean NOT NULL,
    held_indefinitely boolean NOT NULL,
    held_until timestamptz,
    in_flight_until timestamptz,
    last_reminder_at timestamptz,
    records jsonb NOT NULL,
    rejections jsonb NOT NULL,
    rungs smallint[],
    refused_rungs smallint[],
    due_at timestamptz,
    observed_at timestamptz,
    source text,
    subscriptions text[]
) WITH (fillfactor = 85);
COMMENT ON COLUMN invoices.customer_id IS 'Whom the latest snapshot names; null before the first one.';
COMMENT ON COLUMN invoices.debtor_id IS 'Who owes it, after merges; null unless it is open.';
COMMENT ON COLUMN invoices.balance IS 'What is owed, in minor units.';
COMMENT ON COLUMN invoices.zone IS 'The time zone it is billed in, by a name that PostgreSQL reads alike.';
COMMENT ON COLUMN invoices.starts_on IS 'Where the age of this cycle counts from; null: never past due.';
COMMENT ON COLUMN invoices.records IS 'Stages on record, by cycle and name; the view `stages` lists them.';
COMMENT ON COLUMN invoices.rejections IS 'How often the mail of a stage was refused, by cycle and name.';
COMMENT ON COLUMN invoices.rungs IS 'Places on the ladder (from 1) that may still become due in this cycle.';
COMMENT ON COLUMN invoices.refused_rungs IS 'Those of them that wait for a human after too many refusals (D6).';
COMMENT ON COLUMN invoices.due_at IS 'From when on a stage is newly due, if nothing changes; null: none.';
COMMENT ON COLUMN invoices.observed_at IS 'When the latest snapshot is of; on an old one nobody is reminded.';
COMMENT ON COLUMN invoices.source IS 'Who told the latest snapshot.';
COMMENT ON COLUMN invoices.subscriptions IS 'What it bills, as far as it was told; null: nothing was.';
CREATE INDEX invoices_due ON invoices (due_at, debtor_id) WHERE due_at IS NOT NULL;
CREATE INDEX invoices_by_debtor ON invoices (debtor_id, due_at) WHERE debtor_id IS NOT NULL;
-- Always empty after a step: lets the invoices of guard checks be found, to be taken out.
CREATE INDEX invoices_of_probes ON invoices (originator_id)
    WHERE starts_with(customer_id, 'ledger-probe-');

CREATE TABLE silent_feeds (
    source text COLLATE "C" PRIMARY KEY,
    heard_at timestamptz NOT NULL
);
COMMENT ON TABLE silent_feeds IS 'Sources of facts that have fallen silent, and when each was last heard.';

CREATE VIEW stages AS
    SELECT i.invoice_id, split_part(r.key, ':', 1)::integer AS cycle,
        substr(r.key, strpos(r.key, ':') + 1) AS stage, r.value ->> 'state' AS state,
        (r.value ->> 'at')::timestamptz AS at, r.value ->> 'permit_id' AS permit_id
    FROM invoices i CROSS JOIN LATERAL jsonb_each(i.records) r;
COMMENT ON VIEW stages IS 'Every stage on record of every invoice.';

-- The name of a time zone under which PostgreSQL means what the IANA database means by it. It takes
-- a few old names for abbreviations, which know no summer time; a name it does not know reads as UTC.
CREATE FUNCTION usable_zone(name text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    zone text := CASE name
        WHEN 'CET' THEN 'Europe/Brussels' WHEN 'MET' THEN 'Europe/Brussels'
        WHEN 'EET' THEN 'Europe/Athens' WHEN 'WET' THEN 'Europe/Lisbon'
        ELSE name END;
BEGIN
    PERFORM timestamp '2000-01-01' AT TIME ZONE zone;
    RETURN zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN 'UTC';
END $$;

-- The first instant of a calendar day in a zone. Where the clocks go back over midnight PostgreSQL
-- would take the second of the two.
CREATE FUNCTION local_midnight(day date, zone text) RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    midnight timestamptz := day::timestamp AT TIME ZONE zone;
BEGIN
    IF ((midnight - interval '1 hour') AT TIME ZONE zone)::date >= day THEN
        RETURN midnight - interval '1 hour';
    END IF;
    RETURN midnight;
END $$;

-- The stages on record after an event about a reminder, as Invoice's events apply themselves in the
-- domain. Most grants supersede nothing and most records are the only one: they take no query.
CREATE FUNCTION fold_records(records jsonb, topic text, s jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    cycle text := s ->> 'cycle';
    key text := cycle || ':' || (s ->> 'stage');
    lower_key text;
BEGIN
    IF topic = 'ledger:Invoice.ReminderPermitted' OR topic = 'ledger:Invoice.ReminderSent' THEN
        IF s -> 'supersedes' <> '[]' THEN
            FOR lower_key IN SELECT cycle || ':' || jsonb_array_elements_text(s -> 'supersedes') LOOP
                IF topic = 'ledger:Invoice.ReminderPermitted' OR NOT records ? lower_key THEN
                    records := records || jsonb_build_object(lower_key, jsonb_build_object(
                        'state', 'superseded', 'at', s -> 'timestamp', 'permit_id', s -> 'permit_id'));
                END IF;
            END LOOP;
        END IF;
        IF topic = 'ledger:Invoice.ReminderPermitted' THEN
            RETURN records || jsonb_build_object(key, jsonb_build_object(
                'state', 'permitted', 'at', s -> 'timestamp', 'permit_id', s -> 'permit_id'));
        END IF;
        RETURN records || jsonb_build_object(key, jsonb_build_object(
            'state', 'sent', 'at', s -> 'sent_at', 'permit_id', s -> 'permit_id'));
    END IF;
    IF topic = 'ledger:Invoice.ReminderFreed' THEN
        RETURN (
            SELECT coalesce(jsonb_object_agg(r.key, r.value), '{}')
            FROM jsonb_each(records) r
            WHERE split_part(r.key, ':', 1) <> cycle OR r.value -> 'permit_id' <> s -> 'permit_id');
    END IF;
    IF records -> key -> 'permit_id' = s -> 'permit_id' THEN
        RETURN jsonb_set(records, ARRAY[key, 'state'], CASE topic
            WHEN 'ledger:Invoice.ReminderOutcomeUnknown' THEN '"unknown"'::jsonb
            ELSE '"bounced"'::jsonb END);
    END IF;
    RETURN records;
END $$;

-- When the latest reminder, of any cycle, was permitted or sent.
CREATE FUNCTION last_reminder(records jsonb) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT max((r.value ->> 'at')::timestamptz) FROM jsonb_each(records) r
        WHERE r.value ->> 'state' <> 'superseded'
    $$;

-- From when on a stage is newly due, and which ones may be: ledger/domain/stages.py in SQL.
CREATE FUNCTION fold_due(i invoices, p policy) RETURNS invoices
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    first_rung integer;
    first_on date;
    key text;
BEGIN
    i.rungs := NULL;
    i.refused_rungs := NULL;
    i.due_at := NULL;
    IF i.debtor_id IS NULL OR i.starts_on IS NULL OR i.held_indefinitely
        OR i.balance < coalesce((p.smallest_amounts ->> i.currency)::bigint, 1) THEN
        RETURN i;
    END IF;
    FOR n IN 1 .. cardinality(p.stage_names) LOOP
        key := i.cycle || ':' || p.stage_names[n];
        IF i.records ? key OR i.starts_on + p.stage_days[n] < p.adopt_before THEN
            i.rungs := NULL;
            i.refused_rungs := NULL;
            first_rung := NULL;
        ELSIF i.balance * 100 >= p.stage_floors[n] * i.total THEN
            i.rungs := i.rungs || n::smallint;
            IF i.rejections <> '{}'
                AND (i.rejections ->> key)::integer >= p.rejections_before_hold THEN
                i.refused_rungs := i.refused_rungs || n::smallint;
            ELSIF first_rung IS NULL AND (p.catch_up = 'highest' OR cardinality(i.rungs) = 1) THEN
                first_rung := n;
            END IF;
        END IF;
    END LOOP;
    IF first_rung IS NULL THEN
        i.rungs := NULL;
        i.refused_rungs := NULL;
        RETURN i;
    END IF;
    first_on := i.starts_on + p.stage_days[first_rung];
    IF i.last_reminder_at IS NOT NULL THEN
        first_on := greatest(first_on, (i.last_reminder_at AT TIME ZONE i.zone)::date + p.gap_days);
    END IF;
    i.due_at := greatest(local_midnight(first_on, i.zone), i.held_until, i.in_flight_until);
    RETURN i;
END $$;

-- The stage that is due at an instant from `due_at` on: the highest one reached, under `next` the
-- lowest. Null while it waits for a human, or for news because its snapshot is too old or its source
-- silent (ledger/domain/freshness.py), and where its subscriptions have ended and the policy stops
-- reminders then. `subscriptions_ended` is of the read model `customers`, which lists read as well.
CREATE FUNCTION due_stage(i invoices, p policy, instant timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    age integer := (instant AT TIME ZONE i.zone)::date - i.starts_on;
    place integer := CASE p.catch_up WHEN 'next' THEN 1 ELSE cardinality(i.rungs) END;
BEGIN
    -- Nested, since PL/pgSQL evaluates a condition without a subquery or an SQL function much faster.
    IF p.snapshot_max_age > 0 THEN
        IF i.observed_at <= instant - interval '24 hours' * p.snapshot_max_age
            OR EXISTS (SELECT FROM silent_feeds f WHERE f.source = i.source) THEN
            RETURN NULL;
        END IF;
    END IF;
    IF i.subscriptions IS NOT NULL THEN
        IF NOT p.remind_after_subscription_end
            AND subscriptions_ended(i.debtor_id, i.subscriptions, instant) THEN
            RETURN NULL;
        END IF;
    END IF;
    WHILE place > 1 AND p.stage_days[i.rungs[place]] > age LOOP
        place := place - 1;
    END LOOP;
    IF i.refused_rungs IS NOT NULL AND i.rungs[place] = ANY (i.refused_rungs) THEN
        RETURN NULL;
    END IF;
    RETURN p.stage_names[i.rungs[place]];
END $$;

-- An invoice after some of its events, oldest first; null for one whose beginning was taken out.
CREATE FUNCTION fold_invoice(
    i invoices, id uuid, entries log_entry[], p policy, any_merged boolean
) RETURNS invoices
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    entry log_entry;
    s jsonb;
    standing jsonb;
    old_zone text := i.zone;
    old_customer text := i.customer_id;
BEGIN
    FOREACH entry IN ARRAY entries LOOP
        s := entry.state;
        standing := NULL;
        CASE entry.topic
            WHEN 'ledger:Invoice.ReminderPermitted' THEN
                i.records := fold_records(i.records, entry.topic, s);
                i.last_reminder_at := greatest(i.last_reminder_at, (s ->> 'timestamp')::timestamptz);
            WHEN 'ledger:Invoice.Created' THEN
                i.originator_id := id;
                i.invoice_id := s ->> 'invoice_id';
                i.balance := 0;
                i.status := 'draft';
                i.cycle := 1;
                i.run_ended := false;
                i.held_indefinitely := false;
                i.records := '{}';
                i.rejections := '{}';
            WHEN 'ledger:Invoice.Observed' THEN
                standing := s -> 'standing';
                -- Those of before ADR 0005 say nothing of payments in flight.
                IF s ? 'in_flight_until' THEN
                    i.in_flight_until := s ->> 'in_flight_until';
                END IF;
                s := s -> 'snapshot';
                i.customer_id := s ->> 'customer_id';
                i.currency := s ->> 'currency';
                i.total := s ->> 'total';
                i.issued_on := s ->> 'issued_on';
                i.due_on := s ->> 'due_on';
                i.zone := coalesce(s ->> 'time_zone', p.time_zone);
                i.source := coalesce(s ->> 'source', '');
                i.observed_at := s ->> 'observed_at';
                -- Snapshots were once taken in with dates that lie ahead; such a one is of its arrival.
                IF i.observed_at > entry.at + interval '5 minutes' THEN
                    i.observed_at := entry.at;
                END IF;
            WHEN 'ledger:Invoice.MoneyMoved' THEN
                standing := s -> 'standing';
                IF s -> 'fact' ->> 'state' IN ('pending', 'succeeded', 'failed', 'reversed') THEN
                    i.in_flight_until := s ->> 'in_flight_until';
                END IF;
            WHEN 'ledger:Invoice.SubscriptionNamed' THEN
                i.subscriptions := i.subscriptions || (s ->> 'subscription_id');
            WHEN 'ledger:Invoice.HoldPlaced', 'ledger:Invoice.HoldLifted' THEN
                i.held_until := s ->> 'held_until';
                i.held_indefinitely := s ->> 'indefinite';
            ELSE
                i.records := fold_records(i.records, entry.topic, s);
                IF i.records <> '{}' THEN
                    i.last_reminder_at := last_reminder(i.records);
                ELSE
                    i.last_reminder_at := NULL;
                END IF;
                IF s -> 'rejections' > '0' THEN
                    i.rejections := i.rejections || jsonb_build_object(
                        (s ->> 'cycle') || ':' || (s ->> 'stage'), s -> 'rejections');
                END IF;
        END CASE;
        IF standing <> 'null' THEN
            i.status := standing ->> 'status';
            i.balance := standing ->> 'balance';
            i.cycle := standing ->> 'cycle';
            i.starts_on := standing ->> 'starts_on';
            i.reopened_on := standing ->> 'reopened_on';
            i.run_ended := standing ->> 'run_ended';
        END IF;
    END LOOP;
    IF i.invoice_id IS NULL THEN
        RETURN NULL;
    END IF;
    IF i.zone <> p.time_zone AND i.zone IS DISTINCT FROM old_zone THEN
        i.zone := usable_zone(i.zone);
    END IF;
    IF i.status <> 'open' OR starts_with(i.customer_id, 'ledger-probe-') THEN
        i.debtor_id := NULL;
    ELSIF i.debtor_id IS NULL OR i.customer_id IS DISTINCT FROM old_customer THEN
        i.debtor_id := i.customer_id;
        IF any_merged THEN
            i.debtor_id := owner_of(i.customer_id);
        END IF;
    END IF;
    RETURN fold_due(i, p);
END $$;
