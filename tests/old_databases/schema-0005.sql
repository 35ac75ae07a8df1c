--
-- PostgreSQL database dump
--


-- Dumped from database version 18.6
-- Dumped by pg_dump version 18.6

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: projection_customers_1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA projection_customers_1;


--
-- Name: projection_incidents_1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA projection_incidents_1;


--
-- Name: projection_invoices_1; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA projection_invoices_1;


--
-- Name: log_entry; Type: TYPE; Schema: projection_customers_1; Owner: -
--

CREATE TYPE projection_customers_1.log_entry AS (
	topic text,
	at timestamp with time zone,
	state json
);


--
-- Name: TYPE log_entry; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON TYPE projection_customers_1.log_entry IS 'An event as the folding functions take it.';


--
-- Name: log_entry; Type: TYPE; Schema: projection_incidents_1; Owner: -
--

CREATE TYPE projection_incidents_1.log_entry AS (
	topic text,
	at timestamp with time zone,
	state json
);


--
-- Name: TYPE log_entry; Type: COMMENT; Schema: projection_incidents_1; Owner: -
--

COMMENT ON TYPE projection_incidents_1.log_entry IS 'An event as the folding functions take it.';


--
-- Name: log_entry; Type: TYPE; Schema: projection_invoices_1; Owner: -
--

CREATE TYPE projection_invoices_1.log_entry AS (
	topic text,
	at timestamp with time zone,
	state json
);


--
-- Name: TYPE log_entry; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON TYPE projection_invoices_1.log_entry IS 'An event as the folding functions take it.';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: mails; Type: TABLE; Schema: projection_customers_1; Owner: -
--

CREATE TABLE projection_customers_1.mails (
    permit_id uuid NOT NULL,
    customer_id text NOT NULL,
    owner_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    lane text NOT NULL,
    sender text NOT NULL,
    observed boolean NOT NULL,
    redeem_required boolean NOT NULL,
    granted_at timestamp with time zone NOT NULL,
    send_by timestamp with time zone NOT NULL,
    state text NOT NULL,
    redeemed_at timestamp with time zone,
    settled_at timestamp with time zone
)
WITH (fillfactor='75');


--
-- Name: TABLE mails; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON TABLE projection_customers_1.mails IS 'Every permit and every mail that went out past the ledger.';


--
-- Name: COLUMN mails.owner_id; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.mails.owner_id IS 'The customer that it counts for, after merges.';


--
-- Name: COLUMN mails.observed; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.mails.observed IS 'It went out without a permit.';


--
-- Name: counts_at(projection_customers_1.mails); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.counts_at(m projection_customers_1.mails) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT CASE m.state
            WHEN 'rejected' THEN NULL
            WHEN 'expired' THEN NULL
            WHEN 'revoked' THEN
                coalesce(m.redeemed_at, CASE WHEN NOT m.redeem_required THEN m.granted_at END)
            WHEN 'unknown' THEN greatest(m.send_by, coalesce(m.redeemed_at, m.granted_at))
            WHEN 'sent' THEN
                greatest(coalesce(m.redeemed_at, m.granted_at), least(m.settled_at, m.send_by))
            ELSE coalesce(m.redeemed_at, m.granted_at) END
    $$;


--
-- Name: counts_at(projection_customers_1.mails, timestamp with time zone); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.counts_at(m projection_customers_1.mails, instant timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT CASE
            WHEN m.state IN ('granted', 'redeemed') AND m.send_by <= instant THEN
                CASE WHEN m.state = 'redeemed' OR NOT m.redeem_required
                    THEN greatest(m.send_by, coalesce(m.redeemed_at, m.granted_at)) END
            ELSE counts_at(m) END
    $$;


--
-- Name: customers; Type: TABLE; Schema: projection_customers_1; Owner: -
--

CREATE TABLE projection_customers_1.customers (
    originator_id uuid NOT NULL,
    customer_id text NOT NULL COLLATE pg_catalog."C",
    addresses text[] NOT NULL,
    held_addresses jsonb NOT NULL,
    breaker_scope text,
    breaker_opened_at timestamp with time zone,
    breaker_cause text,
    held_indefinitely boolean NOT NULL,
    held_until timestamp with time zone,
    merged_into text
);


--
-- Name: COLUMN customers.addresses; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.customers.addresses IS 'Fingerprints of the addresses, the first preferred (design D18).';


--
-- Name: COLUMN customers.held_addresses; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.customers.held_addresses IS 'Fingerprints of addresses on hold, and why.';


--
-- Name: COLUMN customers.held_until; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.customers.held_until IS 'Until when reminders are held back; held_indefinitely: without end.';


--
-- Name: COLUMN customers.merged_into; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.customers.merged_into IS 'The customer that this one turned out to be.';


--
-- Name: fold_customer(projection_customers_1.customers, uuid, projection_customers_1.log_entry[]); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.fold_customer(c projection_customers_1.customers, id uuid, entries projection_customers_1.log_entry[]) RETURNS projection_customers_1.customers
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    entry log_entry;
    s jsonb;
    theirs jsonb;
BEGIN
    FOREACH entry IN ARRAY entries LOOP
        s := entry.state;
        CASE entry.topic
            WHEN 'ledger:Customer.Created' THEN
                c.originator_id := id;
                c.customer_id := s ->> 'customer_id';
                c.addresses := '{}';
                c.held_addresses := '{}';
                c.held_indefinitely := false;
            WHEN 'ledger:Customer.AddressesObserved' THEN
                c.addresses := ARRAY(SELECT jsonb_array_elements_text(s -> 'fingerprints'));
            WHEN 'ledger:Customer.BreakerOpened' THEN
                c.breaker_scope := s ->> 'scope';
                c.breaker_opened_at := entry.at;
                c.breaker_cause := s ->> 'cause';
            WHEN 'ledger:Customer.BreakerReset' THEN
                c.breaker_scope := NULL;
                c.breaker_opened_at := NULL;
                c.breaker_cause := NULL;
            WHEN 'ledger:Customer.HoldPlaced', 'ledger:Customer.HoldLifted' THEN
                c.held_until := s ->> 'held_until';
                c.held_indefinitely := s ->> 'indefinite';
            WHEN 'ledger:Customer.AddressHeld' THEN
                c.held_addresses :=
                    c.held_addresses || jsonb_build_object(s ->> 'fingerprint', s -> 'cause');
            WHEN 'ledger:Customer.AddressReleased' THEN
                c.held_addresses := c.held_addresses - (s ->> 'fingerprint');
            WHEN 'ledger:Customer.MergedInto' THEN
                c.merged_into := s ->> 'into';
            WHEN 'ledger:Customer.Absorbed' THEN
                c.held_until := s ->> 'held_until';
                c.held_indefinitely := s ->> 'indefinite';
                theirs := s -> 'breaker';
                IF theirs <> 'null' AND (
                    c.breaker_scope IS NULL
                    OR (c.breaker_scope <> 'all' AND theirs ->> 'scope' = 'all')) THEN
                    c.breaker_scope := theirs ->> 'scope';
                    c.breaker_opened_at := theirs ->> 'opened_at';
                    c.breaker_cause := theirs ->> 'cause';
                END IF;
                c.addresses := c.addresses || ARRAY(
                    SELECT a.value FROM jsonb_array_elements_text(s -> 'addresses')
                        WITH ORDINALITY a(value, place)
                    WHERE a.value <> ALL (c.addresses) ORDER BY a.place);
                c.held_addresses := c.held_addresses || (s -> 'held_addresses');
            WHEN 'ledger:Customer.Erased' THEN
                c.addresses := '{}';
        END CASE;
    END LOOP;
    IF c.customer_id IS NULL OR starts_with(c.customer_id, 'ledger-probe-') THEN
        RETURN NULL;
    END IF;
    RETURN c;
END $$;


--
-- Name: gone_within(bigint, bigint); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.gone_within(after bigint, upto bigint) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$ SELECT array_agg(m.customer_id) FROM merged m WHERE m.position > after AND m.position <= upto $$;


--
-- Name: note_merges(bigint, bigint); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.note_merges(after bigint, upto bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    fact record;
BEGIN
    FOR fact IN
        SELECT e.position, c.state ->> 'customer_id' AS gone, e.state ->> 'into' AS into_id
        FROM events e
        JOIN LATERAL (
            SELECT f.state FROM events f
            WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
            OFFSET 0
        ) c ON true
        WHERE e.partition = 0 AND e.position > after AND e.position <= upto
            AND e.topic = 'ledger:Customer.MergedInto'
        ORDER BY e.position
    LOOP
        INSERT INTO merged VALUES (fact.gone, owner_of(fact.into_id), fact.position)
            ON CONFLICT DO NOTHING;
        UPDATE merged m SET owner_id = owner_of(fact.into_id) WHERE m.owner_id = fact.gone;
    END LOOP;
END $$;


--
-- Name: owner_of(text); Type: FUNCTION; Schema: projection_customers_1; Owner: -
--

CREATE FUNCTION projection_customers_1.owner_of(customer text) RETURNS text
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce((SELECT m.owner_id FROM merged m WHERE m.customer_id = customer), customer) $$;


--
-- Name: gone_within(bigint, bigint); Type: FUNCTION; Schema: projection_incidents_1; Owner: -
--

CREATE FUNCTION projection_incidents_1.gone_within(after bigint, upto bigint) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$ SELECT array_agg(m.customer_id) FROM merged m WHERE m.position > after AND m.position <= upto $$;


--
-- Name: note_merges(bigint, bigint); Type: FUNCTION; Schema: projection_incidents_1; Owner: -
--

CREATE FUNCTION projection_incidents_1.note_merges(after bigint, upto bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    fact record;
BEGIN
    FOR fact IN
        SELECT e.position, c.state ->> 'customer_id' AS gone, e.state ->> 'into' AS into_id
        FROM events e
        JOIN LATERAL (
            SELECT f.state FROM events f
            WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
            OFFSET 0
        ) c ON true
        WHERE e.partition = 0 AND e.position > after AND e.position <= upto
            AND e.topic = 'ledger:Customer.MergedInto'
        ORDER BY e.position
    LOOP
        INSERT INTO merged VALUES (fact.gone, owner_of(fact.into_id), fact.position)
            ON CONFLICT DO NOTHING;
        UPDATE merged m SET owner_id = owner_of(fact.into_id) WHERE m.owner_id = fact.gone;
    END LOOP;
END $$;


--
-- Name: owner_of(text); Type: FUNCTION; Schema: projection_incidents_1; Owner: -
--

CREATE FUNCTION projection_incidents_1.owner_of(customer text) RETURNS text
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce((SELECT m.owner_id FROM merged m WHERE m.customer_id = customer), customer) $$;


--
-- Name: invoices; Type: TABLE; Schema: projection_invoices_1; Owner: -
--

CREATE TABLE projection_invoices_1.invoices (
    originator_id uuid NOT NULL,
    invoice_id text NOT NULL,
    customer_id text,
    debtor_id text COLLATE pg_catalog."C",
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
    held_until timestamp with time zone,
    in_flight_until timestamp with time zone,
    last_reminder_at timestamp with time zone,
    records jsonb NOT NULL,
    rejections jsonb NOT NULL,
    rungs smallint[],
    refused_rungs smallint[],
    due_at timestamp with time zone
)
WITH (fillfactor='85');


--
-- Name: COLUMN invoices.customer_id; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.customer_id IS 'Whom the latest snapshot names; null before the first one.';


--
-- Name: COLUMN invoices.debtor_id; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.debtor_id IS 'Who owes it, after merges; null unless it is open.';


--
-- Name: COLUMN invoices.balance; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.balance IS 'What is owed, in minor units.';


--
-- Name: COLUMN invoices.zone; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.zone IS 'The time zone it is billed in, by a name that PostgreSQL reads alike.';


--
-- Name: COLUMN invoices.starts_on; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.starts_on IS 'Where the age of this cycle counts from; null: never past due.';


--
-- Name: COLUMN invoices.records; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.records IS 'Stages on record, by cycle and name; the view `stages` lists them.';


--
-- Name: COLUMN invoices.rejections; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.rejections IS 'How often the mail of a stage was refused, by cycle and name.';


--
-- Name: COLUMN invoices.rungs; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.rungs IS 'Places on the ladder (from 1) that may still become due in this cycle.';


--
-- Name: COLUMN invoices.refused_rungs; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.refused_rungs IS 'Those of them that wait for a human after too many refusals (D6).';


--
-- Name: COLUMN invoices.due_at; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.invoices.due_at IS 'From when on a stage is newly due, if nothing changes; null: none.';


--
-- Name: policy; Type: TABLE; Schema: projection_invoices_1; Owner: -
--

CREATE TABLE projection_invoices_1.policy (
    one_row boolean DEFAULT true NOT NULL,
    time_zone text NOT NULL,
    stage_names text[] NOT NULL,
    stage_days integer[] NOT NULL,
    stage_floors integer[] NOT NULL,
    gap_days integer NOT NULL,
    catch_up text NOT NULL,
    adopt_before date,
    rejections_before_hold integer NOT NULL,
    smallest_amounts jsonb NOT NULL,
    CONSTRAINT policy_one_row_check CHECK (one_row)
);


--
-- Name: TABLE policy; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON TABLE projection_invoices_1.policy IS 'The part of the policy by which this generation was computed; one row.';


--
-- Name: due_stage(projection_invoices_1.invoices, projection_invoices_1.policy, timestamp with time zone); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.due_stage(i projection_invoices_1.invoices, p projection_invoices_1.policy, instant timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    age integer := (instant AT TIME ZONE i.zone)::date - i.starts_on;
    place integer := CASE p.catch_up WHEN 'next' THEN 1 ELSE cardinality(i.rungs) END;
BEGIN
    WHILE place > 1 AND p.stage_days[i.rungs[place]] > age LOOP
        place := place - 1;
    END LOOP;
    IF i.refused_rungs IS NOT NULL AND i.rungs[place] = ANY (i.refused_rungs) THEN
        RETURN NULL;
    END IF;
    RETURN p.stage_names[i.rungs[place]];
END $$;


--
-- Name: fold_due(projection_invoices_1.invoices, projection_invoices_1.policy); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.fold_due(i projection_invoices_1.invoices, p projection_invoices_1.policy) RETURNS projection_invoices_1.invoices
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


--
-- Name: fold_invoice(projection_invoices_1.invoices, uuid, projection_invoices_1.log_entry[], projection_invoices_1.policy, boolean); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.fold_invoice(i projection_invoices_1.invoices, id uuid, entries projection_invoices_1.log_entry[], p projection_invoices_1.policy, any_merged boolean) RETURNS projection_invoices_1.invoices
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
                s := s -> 'snapshot';
                i.customer_id := s ->> 'customer_id';
                i.currency := s ->> 'currency';
                i.total := s ->> 'total';
                i.issued_on := s ->> 'issued_on';
                i.due_on := s ->> 'due_on';
                i.zone := coalesce(s ->> 'time_zone', p.time_zone);
            WHEN 'ledger:Invoice.MoneyMoved' THEN
                standing := s -> 'standing';
                IF s -> 'fact' ->> 'state' IN ('pending', 'succeeded', 'failed', 'reversed') THEN
                    i.in_flight_until := s ->> 'in_flight_until';
                END IF;
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


--
-- Name: fold_records(jsonb, text, jsonb); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.fold_records(records jsonb, topic text, s jsonb) RETURNS jsonb
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


--
-- Name: gone_within(bigint, bigint); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.gone_within(after bigint, upto bigint) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$ SELECT array_agg(m.customer_id) FROM merged m WHERE m.position > after AND m.position <= upto $$;


--
-- Name: last_reminder(jsonb); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.last_reminder(records jsonb) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT max((r.value ->> 'at')::timestamptz) FROM jsonb_each(records) r
        WHERE r.value ->> 'state' <> 'superseded'
    $$;


--
-- Name: local_midnight(date, text); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.local_midnight(day date, zone text) RETURNS timestamp with time zone
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


--
-- Name: note_merges(bigint, bigint); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.note_merges(after bigint, upto bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    fact record;
BEGIN
    FOR fact IN
        SELECT e.position, c.state ->> 'customer_id' AS gone, e.state ->> 'into' AS into_id
        FROM events e
        JOIN LATERAL (
            SELECT f.state FROM events f
            WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
            OFFSET 0
        ) c ON true
        WHERE e.partition = 0 AND e.position > after AND e.position <= upto
            AND e.topic = 'ledger:Customer.MergedInto'
        ORDER BY e.position
    LOOP
        INSERT INTO merged VALUES (fact.gone, owner_of(fact.into_id), fact.position)
            ON CONFLICT DO NOTHING;
        UPDATE merged m SET owner_id = owner_of(fact.into_id) WHERE m.owner_id = fact.gone;
    END LOOP;
END $$;


--
-- Name: owner_of(text); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.owner_of(customer text) RETURNS text
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce((SELECT m.owner_id FROM merged m WHERE m.customer_id = customer), customer) $$;


--
-- Name: usable_zone(text); Type: FUNCTION; Schema: projection_invoices_1; Owner: -
--

CREATE FUNCTION projection_invoices_1.usable_zone(name text) RETURNS text
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


--
-- Name: append_batch(json, json, json, json); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.append_batch(new_events json DEFAULT NULL::json, new_decisions json DEFAULT NULL::json, changed_permits json DEFAULT NULL::json, rest json DEFAULT NULL::json) RETURNS void
    LANGUAGE plpgsql
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


--
-- Name: begin_batch(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.begin_batch(OUT head_position bigint, OUT head_hash bytea, OUT head_recorded_at timestamp with time zone, OUT read_at timestamp with time zone, OUT is_test_clock boolean, OUT keys_version bigint) RETURNS record
    LANGUAGE plpgsql
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


--
-- Name: ensure_decision_part(timestamp with time zone); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.ensure_decision_part(at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
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


--
-- Name: enter_generation(text, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.enter_generation(name text, generation integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config(
        'search_path',
        quote_ident(projection_schema(name, generation)) || ', ' || quote_ident(ledger_schema()),
        true);
END $$;


--
-- Name: enter_projections(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.enter_projections() RETURNS void
    LANGUAGE plpgsql
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


--
-- Name: ledger_now(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.ledger_now() RETURNS timestamp with time zone
    LANGUAGE sql PARALLEL RESTRICTED
    AS $$ SELECT coalesce((SELECT test_now FROM clock WHERE partition = 0), clock_timestamp()) $$;


--
-- Name: ledger_schema(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.ledger_schema() RETURNS text
    LANGUAGE sql STABLE
    AS $$
        SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = 'projection_generations'::regclass
    $$;


--
-- Name: place_alert(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.place_alert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.position := coalesce((SELECT max(e.position) FROM events e WHERE e.partition = 0), 0);
    RETURN NEW;
END $$;


--
-- Name: projection_schema(text, integer); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.projection_schema(name text, generation integer) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT 'projection_' || name || '_' || generation $$;


--
-- Name: refuse_change(); Type: FUNCTION; Schema: public; Owner: -
--

CREATE FUNCTION public.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;


--
-- Name: merged; Type: TABLE; Schema: projection_customers_1; Owner: -
--

CREATE TABLE projection_customers_1.merged (
    customer_id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL
);


--
-- Name: TABLE merged; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON TABLE projection_customers_1.merged IS 'Customers that went into another one, and who is at the end of the chain.';


--
-- Name: COLUMN merged."position"; Type: COMMENT; Schema: projection_customers_1; Owner: -
--

COMMENT ON COLUMN projection_customers_1.merged."position" IS 'Where the log tells of it.';


--
-- Name: incidents; Type: TABLE; Schema: projection_incidents_1; Owner: -
--

CREATE TABLE projection_incidents_1.incidents (
    originator_id uuid NOT NULL,
    "position" bigint NOT NULL,
    incident_id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    cause text NOT NULL,
    window_from timestamp with time zone NOT NULL,
    window_to timestamp with time zone NOT NULL,
    declared_by text NOT NULL,
    declared_at timestamp with time zone NOT NULL,
    closed_by text,
    closed_at timestamp with time zone
);


--
-- Name: COLUMN incidents."position"; Type: COMMENT; Schema: projection_incidents_1; Owner: -
--

COMMENT ON COLUMN projection_incidents_1.incidents."position" IS 'Where the log tells of it.';


--
-- Name: merged; Type: TABLE; Schema: projection_incidents_1; Owner: -
--

CREATE TABLE projection_incidents_1.merged (
    customer_id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL
);


--
-- Name: TABLE merged; Type: COMMENT; Schema: projection_incidents_1; Owner: -
--

COMMENT ON TABLE projection_incidents_1.merged IS 'Customers that went into another one, and who is at the end of the chain.';


--
-- Name: COLUMN merged."position"; Type: COMMENT; Schema: projection_incidents_1; Owner: -
--

COMMENT ON COLUMN projection_incidents_1.merged."position" IS 'Where the log tells of it.';


--
-- Name: merged; Type: TABLE; Schema: projection_invoices_1; Owner: -
--

CREATE TABLE projection_invoices_1.merged (
    customer_id text NOT NULL COLLATE pg_catalog."C",
    owner_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL
);


--
-- Name: TABLE merged; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON TABLE projection_invoices_1.merged IS 'Customers that went into another one, and who is at the end of the chain.';


--
-- Name: COLUMN merged."position"; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON COLUMN projection_invoices_1.merged."position" IS 'Where the log tells of it.';


--
-- Name: stages; Type: VIEW; Schema: projection_invoices_1; Owner: -
--

CREATE VIEW projection_invoices_1.stages AS
 SELECT i.invoice_id,
    (split_part(r.key, ':'::text, 1))::integer AS cycle,
    substr(r.key, (strpos(r.key, ':'::text) + 1)) AS stage,
    (r.value ->> 'state'::text) AS state,
    ((r.value ->> 'at'::text))::timestamp with time zone AS at,
    (r.value ->> 'permit_id'::text) AS permit_id
   FROM (projection_invoices_1.invoices i
     CROSS JOIN LATERAL jsonb_each(i.records) r(key, value));


--
-- Name: VIEW stages; Type: COMMENT; Schema: projection_invoices_1; Owner: -
--

COMMENT ON VIEW projection_invoices_1.stages IS 'Every stage on record of every invoice.';


--
-- Name: alerts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.alerts (
    partition integer NOT NULL,
    alert_id bigint NOT NULL,
    dedupe_key text NOT NULL,
    kind text NOT NULL,
    summary text NOT NULL,
    customer_id text,
    permit_id text,
    drill boolean DEFAULT false NOT NULL,
    raised_at timestamp with time zone NOT NULL,
    delivered_at timestamp with time zone,
    acked_at timestamp with time zone,
    acked_by text,
    escalated_at timestamp with time zone,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    page_id bigint,
    escalation_id bigint,
    "position" bigint NOT NULL
);


--
-- Name: TABLE alerts; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.alerts IS 'What people must hear of: written with the decision, carried by pages.';


--
-- Name: COLUMN alerts.raised_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.alerts.raised_at IS 'By the ledger''s clock, like delivered_at, acked_at and escalated_at.';


--
-- Name: COLUMN alerts.noted_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.alerts.noted_at IS 'Real time at which it was written.';


--
-- Name: COLUMN alerts.page_id; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.alerts.page_id IS 'The page that carries it; null while it is held for a summary.';


--
-- Name: COLUMN alerts.escalation_id; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.alerts.escalation_id IS 'The page that carries it once more.';


--
-- Name: COLUMN alerts."position"; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.alerts."position" IS 'The end of the log when it was raised: its place in a timeline.';


--
-- Name: alerts_alert_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.alerts ALTER COLUMN alert_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.alerts_alert_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: clock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.clock (
    partition integer NOT NULL,
    test_now timestamp with time zone
);


--
-- Name: TABLE clock; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.clock IS 'The test clock of a staging ledger; null on a real one.';


--
-- Name: contacts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.contacts (
    partition integer NOT NULL,
    fingerprint text NOT NULL,
    customer_id text NOT NULL,
    address text NOT NULL
);
ALTER TABLE ONLY public.contacts ALTER COLUMN address SET STATISTICS 0;


--
-- Name: TABLE contacts; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.contacts IS 'The addresses, outside the log, so that they can be erased (design D18).';


--
-- Name: decisions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.decisions (
    partition integer NOT NULL,
    decision_id uuid NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    "position" bigint NOT NULL,
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
    answer json NOT NULL
)
PARTITION BY RANGE (decided_at);


--
-- Name: TABLE decisions; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.decisions IS 'One row per answer, granted or denied, split by month (design D11).';


--
-- Name: decisions_2026_11; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.decisions_2026_11 (
    partition integer CONSTRAINT decisions_partition_not_null NOT NULL,
    decision_id uuid CONSTRAINT decisions_decision_id_not_null NOT NULL,
    decided_at timestamp with time zone CONSTRAINT decisions_decided_at_not_null NOT NULL,
    "position" bigint CONSTRAINT decisions_position_not_null NOT NULL,
    operation text CONSTRAINT decisions_operation_not_null NOT NULL,
    key_id text CONSTRAINT decisions_key_id_not_null NOT NULL,
    sender text CONSTRAINT decisions_sender_not_null NOT NULL,
    kind text,
    customer_id text,
    invoice_id text,
    thread_id text,
    status smallint CONSTRAINT decisions_status_not_null NOT NULL,
    code text,
    replayed boolean CONSTRAINT decisions_replayed_not_null NOT NULL,
    policy text CONSTRAINT decisions_policy_not_null NOT NULL,
    request json CONSTRAINT decisions_request_not_null NOT NULL,
    answer json CONSTRAINT decisions_answer_not_null NOT NULL
);


--
-- Name: events; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.events (
    partition integer NOT NULL,
    "position" bigint NOT NULL,
    originator_id uuid NOT NULL,
    originator_version integer NOT NULL,
    topic text NOT NULL,
    state json NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: TABLE events; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.events IS 'The log: append-only, positions gap-free and in commit order.';


--
-- Name: COLUMN events.hash; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.events.hash IS 'sha256 over the hash before it and what is stored, fields length-prefixed.';


--
-- Name: idempotency; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.idempotency (
    partition integer NOT NULL,
    scope bytea NOT NULL,
    fingerprint bytea NOT NULL,
    permit_id uuid,
    status smallint,
    body bytea,
    created_at timestamp with time zone NOT NULL
);


--
-- Name: TABLE idempotency; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.idempotency IS 'What an Idempotency-Key is bound to, under the digest of its scope.';


--
-- Name: invoice_owners; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.invoice_owners (
    partition integer NOT NULL,
    customer_id text NOT NULL,
    invoice_id text NOT NULL
);


--
-- Name: TABLE invoice_owners; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.invoice_owners IS 'Which invoices ever named a customer, for statements under the writer lock.';


--
-- Name: keys; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.keys (
    partition integer NOT NULL,
    key_id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    scopes text[] NOT NULL,
    redeem_required boolean NOT NULL,
    intents text[],
    transactional boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone
);


--
-- Name: TABLE keys; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.keys IS 'API keys, as the sha256 of their secret.';


--
-- Name: migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    run_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: names; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.names (
    partition integer NOT NULL,
    kind text NOT NULL,
    name_hash bytea NOT NULL,
    target text NOT NULL
);


--
-- Name: TABLE names; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.names IS 'Look-ups by outside names: facts, message ids, addresses. First claim wins.';


--
-- Name: page_deliveries; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.page_deliveries (
    partition integer NOT NULL,
    page_id bigint NOT NULL,
    target text NOT NULL,
    delivered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);


--
-- Name: TABLE page_deliveries; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.page_deliveries IS 'Which target, by the fingerprint of its URL, has had which page.';


--
-- Name: pages; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pages (
    partition integer NOT NULL,
    page_id bigint NOT NULL,
    reason text NOT NULL,
    dedupe_key text NOT NULL,
    taken_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    left_at timestamp with time zone,
    left_ledger_at timestamp with time zone,
    done_at timestamp with time zone,
    CONSTRAINT pages_reason_check CHECK ((reason = ANY (ARRAY['alert'::text, 'summary'::text, 'escalation'::text, 'drill'::text])))
)
WITH (fillfactor='80');


--
-- Name: TABLE pages; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.pages IS 'The outbox: messages to people, delivered at least once to each target (D11).';


--
-- Name: COLUMN pages.attempts; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.pages.attempts IS 'How often it was claimed; also the token of the latest claim.';


--
-- Name: COLUMN pages.left_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.pages.left_at IS 'Real time at which the first target had it.';


--
-- Name: COLUMN pages.left_ledger_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.pages.left_ledger_at IS 'The same moment by the ledger''s clock.';


--
-- Name: COLUMN pages.done_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.pages.done_at IS 'Real time at which every target had it, or a drill was given up.';


--
-- Name: pages_page_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.pages ALTER COLUMN page_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.pages_page_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: partitions; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.partitions (
    partition integer NOT NULL
);


--
-- Name: TABLE partitions; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.partitions IS 'The writer lock of each partition: SELECT ... FOR UPDATE, never updated.';


--
-- Name: permits; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.permits (
    partition integer NOT NULL,
    permit_id uuid NOT NULL,
    state text NOT NULL,
    customer_id text NOT NULL,
    send_by timestamp with time zone NOT NULL,
    doc json NOT NULL
)
WITH (fillfactor='80');


--
-- Name: TABLE permits; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.permits IS 'The latest state of each permit, as the events tell it.';


--
-- Name: policies; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.policies (
    partition integer NOT NULL,
    version text NOT NULL,
    policy json NOT NULL,
    first_used_at timestamp with time zone NOT NULL
);


--
-- Name: TABLE policies; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.policies IS 'The text of every policy that a decision names.';


--
-- Name: projection_generations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.projection_generations (
    partition integer NOT NULL,
    name text NOT NULL,
    generation integer NOT NULL,
    version integer NOT NULL,
    policy text NOT NULL,
    state text NOT NULL,
    "position" bigint DEFAULT 0 NOT NULL,
    failed_position bigint,
    error text,
    CONSTRAINT projection_generations_state_check CHECK ((state = ANY (ARRAY['building'::text, 'live'::text, 'retired'::text])))
)
WITH (fillfactor='50');


--
-- Name: TABLE projection_generations; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.projection_generations IS 'Each generation of a read model and its checkpoint: the position of the log that it has taken in.';


--
-- Name: COLUMN projection_generations.version; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.projection_generations.version IS 'The version of its tables and statements.';


--
-- Name: COLUMN projection_generations.policy; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.projection_generations.policy IS 'The digest of the policy that it was computed by.';


--
-- Name: projections; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.projections (
    partition integer NOT NULL,
    name text NOT NULL,
    generation integer NOT NULL
);


--
-- Name: TABLE projections; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.projections IS 'Which generation of a read model is the live one.';


--
-- Name: refresh_work; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.refresh_work (
    partition integer NOT NULL,
    refresh_id bigint NOT NULL,
    provider text NOT NULL,
    object_kind text NOT NULL,
    object_id text NOT NULL,
    hints integer DEFAULT 1 NOT NULL,
    first_hinted_at timestamp with time zone NOT NULL,
    last_hinted_at timestamp with time zone NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text
)
WITH (fillfactor='80');


--
-- Name: TABLE refresh_work; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.refresh_work IS 'Objects that changed at a provider and that only its API can tell: one row each until fetched.';


--
-- Name: COLUMN refresh_work.hints; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.refresh_work.hints IS 'How often it was hinted at; one that comes during a fetch asks for another.';


--
-- Name: COLUMN refresh_work.first_hinted_at; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.refresh_work.first_hinted_at IS 'By the ledger''s clock, like last_hinted_at; tries and claims go by real time.';


--
-- Name: refresh_work_refresh_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.refresh_work ALTER COLUMN refresh_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.refresh_work_refresh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: rejected_bodies; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rejected_bodies (
    partition integer NOT NULL,
    rejected_id bigint NOT NULL,
    provider text NOT NULL,
    headers json NOT NULL,
    body bytea NOT NULL,
    received_at timestamp with time zone NOT NULL,
    replayed_at timestamp with time zone,
    reasons json NOT NULL,
    kinds text[] NOT NULL,
    body_hash bytea NOT NULL,
    fetched text,
    copies integer DEFAULT 1 NOT NULL,
    last_received_at timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    resolution text,
    CONSTRAINT rejected_bodies_resolution_check CHECK ((resolution = ANY (ARRAY['replayed'::text, 'dismissed'::text])))
);
ALTER TABLE ONLY public.rejected_bodies ALTER COLUMN headers SET STATISTICS 0;
ALTER TABLE ONLY public.rejected_bodies ALTER COLUMN body SET STATISTICS 0;


--
-- Name: TABLE rejected_bodies; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.rejected_bodies IS 'Webhook bodies that could not be used, kept to be replayed after a fix.';


--
-- Name: COLUMN rejected_bodies.reasons; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.rejected_bodies.reasons IS 'Kind and detail of each part that could not be used; no values of the body.';


--
-- Name: COLUMN rejected_bodies.fetched; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.rejected_bodies.fetched IS 'The kind of object where the body is the answer of the provider''s API.';


--
-- Name: COLUMN rejected_bodies.copies; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.rejected_bodies.copies IS 'How often the same bytes arrived.';


--
-- Name: rejected_bodies_rejected_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.rejected_bodies ALTER COLUMN rejected_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.rejected_bodies_rejected_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: rejected_kinds; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rejected_kinds (
    partition integer NOT NULL,
    provider text NOT NULL,
    kind text NOT NULL,
    episode integer DEFAULT 1 NOT NULL,
    open boolean DEFAULT true NOT NULL
);


--
-- Name: TABLE rejected_kinds; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.rejected_kinds IS 'One alert per kind and episode; an episode ends when no body of the kind is open.';


--
-- Name: settings; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.settings (
    partition integer NOT NULL,
    name text NOT NULL,
    value text NOT NULL
);


--
-- Name: TABLE settings; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.settings IS 'Facts about this ledger itself: the check value of its secret, its epoch.';


--
-- Name: snapshots; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.snapshots (
    partition integer NOT NULL,
    originator_id uuid NOT NULL,
    originator_version integer NOT NULL,
    topic text NOT NULL,
    state json NOT NULL
);


--
-- Name: TABLE snapshots; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.snapshots IS 'A cache: the latest snapshot of long aggregates. Safe to empty.';


--
-- Name: decisions_2026_11; Type: TABLE ATTACH; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions ATTACH PARTITION public.decisions_2026_11 FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');


--
-- Data for Name: customers; Type: TABLE DATA; Schema: projection_customers_1; Owner: -
--

INSERT INTO projection_customers_1.customers VALUES
	('2c36314d-9be0-566a-9b79-5369add1211a', 'cus-pat', '{50fc64e148b053ccb346be10bfc7a9af}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('0f9d4f8f-a3a0-5cb0-80cf-c56f2c99c02f', 'cus-inv-07', '{3cdbc2a0820511d5cb6e1a07bbb06056}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('2cb2baf8-0f6f-513b-9994-925fe1821366', 'cus-flooded', '{}', '{}', 'outreach', '2026-11-29 09:00:00+00', 'customer cus-flooded has had 2 of 2 mails in the window outreach_24h', false, NULL, NULL),
	('309f175a-cf0f-5749-8945-c324f1f461c7', 'cus-inv-02', '{2c9566510c18b44af1d79ba4e9a6045c}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('4c99dc54-7a18-5438-b02f-f133306e532a', 'cus-inv-03', '{53f80abc36053f614418ac8743e8dd6d}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('4f776d70-3948-5e51-a21e-a7ba61c70cbe', 'cus-inv-05', '{5e2d789e84d831cccbfb9b34255cba17}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('5829c2d9-527b-5f4f-94a7-05110763876d', 'cus-inv-10', '{40ad93b3246836cc0df39bc730aadf45}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('66850485-916a-513c-863d-bcf2f6b13f4f', 'cus-inv-09', '{0b20e1500c0e0b87b42811af90e63664}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('6899e72d-5a12-53c8-a903-0afe4ef2fc70', 'cus-inv-04', '{7d04b80a3796a21e14f58fd371f4054f}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('6b6df9a9-38a6-5d10-a119-6724ae64e2c7', 'cus-held', '{}', '{}', NULL, NULL, NULL, true, NULL, NULL),
	('83110166-e396-53d1-a536-8e74fbc7f39f', 'cus-inv-06', '{bc5715365415e6c45151133cd23bdf23}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('9303fc4d-c5e8-555f-86f4-bbbe189416e4', 'cus-old', '{}', '{}', NULL, NULL, NULL, false, NULL, 'cus-ann'),
	('9dd63f01-6bb6-5ffd-857d-496c47dbf7c9', 'cus-inv-01', '{43072c60b59e8e11d5db3d2a3f8bef6a}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('9e4f5bf2-37d1-5b01-9105-c9979f219d60', 'cus-inv-08', '{03a202529a6d0c094e59cca941247bb1}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 'cus-ann', '{42e8ad55d42b8c26a13bac2693d7e5c0}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('d4dd3045-bd3f-538b-94de-adfe7dec7599', 'cus-inv-00', '{0f8fc4f0a4f4567c0ae3a430f1673674}', '{}', NULL, NULL, NULL, false, NULL, NULL),
	('f2ba6e03-cd59-5ee3-9302-64b4536ed671', 'cus-inv-11', '{97b14748e139fb5f6dcec2eccd66197b}', '{}', NULL, NULL, NULL, false, NULL, NULL);


--
-- Data for Name: mails; Type: TABLE DATA; Schema: projection_customers_1; Owner: -
--

INSERT INTO projection_customers_1.mails VALUES
	('068be712-1d63-4e1d-91d4-12d2d329fe64', 'cus-flooded', 'cus-flooded', 'notification', 'outreach', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00'),
	('170ce809-b12f-4830-ae78-8f24e4b4d264', 'cus-pat', 'cus-pat', 'reply', 'reply', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00'),
	('1c807432-2294-43c7-bb9a-7a065ff62866', 'cus-ann', 'cus-ann', 'notification', 'outreach', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00'),
	('519e6aed-bdca-4f85-91b8-672e2a6390a1', 'cus-ann', 'cus-ann', 'digest', 'outreach', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00'),
	('97f157db-cdab-4c3c-804d-aa9e0d81e74f', 'cus-pat', 'cus-pat', 'message', 'outreach', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00'),
	('cc4b59b4-6561-4dcc-990b-4f82858a76a1', 'cus-flooded', 'cus-flooded', 'notification', 'outreach', 'first', false, false, '2026-11-29 09:00:00+00', '2026-11-29 09:10:00+00', 'sent', NULL, '2026-11-29 09:00:00+00');


--
-- Data for Name: merged; Type: TABLE DATA; Schema: projection_customers_1; Owner: -
--

INSERT INTO projection_customers_1.merged VALUES
	('cus-old', 'cus-ann', 27);


--
-- Data for Name: incidents; Type: TABLE DATA; Schema: projection_incidents_1; Owner: -
--



--
-- Data for Name: merged; Type: TABLE DATA; Schema: projection_incidents_1; Owner: -
--



--
-- Data for Name: invoices; Type: TABLE DATA; Schema: projection_invoices_1; Owner: -
--

INSERT INTO projection_invoices_1.invoices VALUES
	('00cd70ec-0dd3-5f46-b79b-cf7d0c7aec94', 'inv-10', 'cus-inv-10', 'cus-inv-10', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('03ac2150-4b59-5b8e-b77e-3c4634ff7742', 'inv-08', 'cus-inv-08', 'cus-inv-08', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('43c5efb7-383f-561b-8fbb-e35c9dcdc2f6', 'inv-00', 'cus-inv-00', 'cus-inv-00', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('47ad4c0f-d43a-5653-94e3-6878a981c4a4', 'inv-07', 'cus-inv-07', 'cus-inv-07', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('5afd2fa8-0fdf-507e-8167-480132fea52d', 'inv-04', 'cus-inv-04', 'cus-inv-04', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('8d9aa012-9ed6-517a-b589-b7ae79647371', 'inv-09', 'cus-inv-09', 'cus-inv-09', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('9834cbc9-5222-50d0-b980-3d709226752b', 'inv-03', 'cus-inv-03', 'cus-inv-03', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('a1961c5e-f04c-5e5d-94f3-8d3e8c50315c', 'inv-11', 'cus-inv-11', 'cus-inv-11', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('a5bfb0ae-01f2-5de2-bbfa-1fd35d910263', 'inv-05', 'cus-inv-05', 'cus-inv-05', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('c44f5c75-be1c-5deb-989c-3269c4ef9a1e', 'inv-01', 'cus-inv-01', 'cus-inv-01', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('e53ada84-98fc-5742-822c-b1d62a91286a', 'inv-02', 'cus-inv-02', 'cus-inv-02', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('f9dcb9d0-7303-5931-bb0a-874bab8056c0', 'inv-12', 'cus-inv-12', 'cus-inv-12', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00'),
	('fe3ccfcc-fb59-5d58-b803-18a509f72290', 'inv-06', 'cus-inv-06', 'cus-inv-06', 'USD', 30000, 30000, 'open', NULL, '2026-11-26', 'UTC', 1, '2026-11-26', NULL, false, false, NULL, NULL, NULL, '{}', '{}', '{1,2,3}', NULL, '2026-11-29 00:00:00+00');


--
-- Data for Name: merged; Type: TABLE DATA; Schema: projection_invoices_1; Owner: -
--

INSERT INTO projection_invoices_1.merged VALUES
	('cus-old', 'cus-ann', 27);


--
-- Data for Name: policy; Type: TABLE DATA; Schema: projection_invoices_1; Owner: -
--

INSERT INTO projection_invoices_1.policy VALUES
	(true, 'UTC', '{day-3,day-7,day-14}', '{3,7,14}', '{0,10,25}', 3, 'highest', NULL, 3, '{}');


--
-- Data for Name: alerts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.alerts OVERRIDING SYSTEM VALUE VALUES
	(0, 1, 'breaker_opened:cus-flooded:5', 'breaker_opened', 'the breaker of customer cus-flooded opened for outreach: customer cus-flooded has had 2 of 2 mails in the window outreach_24h', 'cus-flooded', NULL, false, '2026-11-29 09:00:00+00', NULL, NULL, NULL, NULL, '2026-12-01 10:11:18.271407+00', NULL, NULL, 25);


--
-- Data for Name: clock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.clock VALUES
	(0, '2026-11-30 12:00:00+00');


--
-- Data for Name: contacts; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.contacts VALUES
	(0, '50fc64e148b053ccb346be10bfc7a9af', 'cus-pat', 'pat@example.com'),
	(0, '42e8ad55d42b8c26a13bac2693d7e5c0', 'cus-ann', 'ann@example.com'),
	(0, '0f8fc4f0a4f4567c0ae3a430f1673674', 'cus-inv-00', 'c00@example.com'),
	(0, '43072c60b59e8e11d5db3d2a3f8bef6a', 'cus-inv-01', 'c01@example.com'),
	(0, '2c9566510c18b44af1d79ba4e9a6045c', 'cus-inv-02', 'c02@example.com'),
	(0, '53f80abc36053f614418ac8743e8dd6d', 'cus-inv-03', 'c03@example.com'),
	(0, '7d04b80a3796a21e14f58fd371f4054f', 'cus-inv-04', 'c04@example.com'),
	(0, '5e2d789e84d831cccbfb9b34255cba17', 'cus-inv-05', 'c05@example.com'),
	(0, 'bc5715365415e6c45151133cd23bdf23', 'cus-inv-06', 'c06@example.com'),
	(0, '3cdbc2a0820511d5cb6e1a07bbb06056', 'cus-inv-07', 'c07@example.com'),
	(0, '03a202529a6d0c094e59cca941247bb1', 'cus-inv-08', 'c08@example.com'),
	(0, '0b20e1500c0e0b87b42811af90e63664', 'cus-inv-09', 'c09@example.com'),
	(0, '40ad93b3246836cc0df39bc730aadf45', 'cus-inv-10', 'c10@example.com'),
	(0, '97b14748e139fb5f6dcec2eccd66197b', 'cus-inv-11', 'c11@example.com'),
	(0, '7b3cdca43dbfd950b1e08881f031a7b9', 'cus-inv-12', 'c12@example.com'),
	(0, '348b0ab40937a9f1426ee571d8dc49a4', 'cus-inv-13', 'c13@example.com'),
	(0, '63f6d91a033777510f15d1df54cb0dbf', 'cus-inv-14', 'c14@example.com'),
	(0, '45e885b4153b647f1b255fd9dbdc3eb4', 'cus-inv-15', 'c15@example.com'),
	(0, '7437bdc44572465910f1a40cbf2ad017', 'cus-inv-16', 'c16@example.com'),
	(0, '46700c33263c88e19594be64c9601fa3', 'cus-inv-17', 'c17@example.com'),
	(0, 'b52f000f7f3d980e899d3ee5e11fd4e6', 'cus-inv-18', 'c18@example.com'),
	(0, 'd9319758229657e3bf75bb1d7a2e7664', 'cus-inv-19', 'c19@example.com');


--
-- Data for Name: decisions_2026_11; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.decisions_2026_11 VALUES
	(0, '170ce809-b12f-4830-ae78-8f24e4b4d264', '2026-11-29 09:00:00+00', 7, 'permit', 'key_first', 'first', 'reply', 'cus-pat', NULL, 'thr-1', 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reply", "thread_id": "thr-1", "in_reply_to": "<question@example.com>"}', '{"permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","state":"granted","kind":"reply","customer_id":"cus-pat","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"1ade0835e7a76e286365dfd3830e0024d873cc616b191757","message_id":"<170ce809-b12f-4830-ae78-8f24e4b4d264.23e38b25ec0a1624@send-ledger.invalid>","windows":{"replies_1h":{"used":1,"limit":5},"replies_24h":{"used":1,"limit":30}},"thread_id":"thr-1","position":"7","decision_id":"170ce809-b12f-4830-ae78-8f24e4b4d264"}'),
	(0, '97f157db-cdab-4c3c-804d-aa9e0d81e74f', '2026-11-29 09:00:00+00', 11, 'permit', 'key_first', 'first', 'message', 'cus-pat', NULL, 'thr-1', 201, NULL, false, '2d5c6e24171b6657', '{"kind": "message", "thread_id": "thr-1", "intent": "refund_notice"}', '{"permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","state":"granted","kind":"message","customer_id":"cus-pat","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"4016a0f4056c076f45b1c246bab1545e6619d7936cd33434","message_id":"<97f157db-cdab-4c3c-804d-aa9e0d81e74f.069ca306ae2273bb@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"thread_id":"thr-1","position":"11","decision_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f"}'),
	(0, '1c807432-2294-43c7-bb9a-7a065ff62866', '2026-11-29 09:00:00+00', 16, 'permit', 'key_first', 'first', 'notification', 'cus-ann', NULL, NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind":"notification","event_type":"order.shipped","event_id":"ord-1","customer_id":"cus-ann","to_fingerprint":"42e8ad55d42b8c26a13bac2693d7e5c0"}', '{"permit_id":"1c807432-2294-43c7-bb9a-7a065ff62866","state":"granted","kind":"notification","customer_id":"cus-ann","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"7f92cc17b7facc662da8e2eca9c5fe21c5b7117d464594b6","message_id":"<1c807432-2294-43c7-bb9a-7a065ff62866.5fb79a9b6dc44b16@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"16","decision_id":"1c807432-2294-43c7-bb9a-7a065ff62866"}'),
	(0, '519e6aed-bdca-4f85-91b8-672e2a6390a1', '2026-11-29 09:00:00+00', 18, 'permit', 'key_first', 'first', 'digest', 'cus-ann', NULL, NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "digest", "inbox_id": "inb-1", "date": "2026-11-29", "customer_id": "cus-ann"}', '{"permit_id":"519e6aed-bdca-4f85-91b8-672e2a6390a1","state":"granted","kind":"digest","customer_id":"cus-ann","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"e5a8e728bc30a9d15cbc8e4338e27de04db5703258c9d2d0","message_id":"<519e6aed-bdca-4f85-91b8-672e2a6390a1.72bda480786a5356@send-ledger.invalid>","windows":{"outreach_24h":{"used":2,"limit":2}},"position":"18","decision_id":"519e6aed-bdca-4f85-91b8-672e2a6390a1"}'),
	(0, 'cc4b59b4-6561-4dcc-990b-4f82858a76a1', '2026-11-29 09:00:00+00', 21, 'permit', 'key_first', 'first', 'notification', 'cus-flooded', NULL, NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "notification", "event_type": "order.shipped", "event_id": "flood-0", "customer_id": "cus-flooded"}', '{"permit_id":"cc4b59b4-6561-4dcc-990b-4f82858a76a1","state":"granted","kind":"notification","customer_id":"cus-flooded","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"fdff196f416a4f6a862453bd671b41956e3f03650e404598","message_id":"<cc4b59b4-6561-4dcc-990b-4f82858a76a1.a1310e8ef0ccd707@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"21","decision_id":"cc4b59b4-6561-4dcc-990b-4f82858a76a1"}'),
	(0, '068be712-1d63-4e1d-91d4-12d2d329fe64', '2026-11-29 09:00:00+00', 23, 'permit', 'key_first', 'first', 'notification', 'cus-flooded', NULL, NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "notification", "event_type": "order.shipped", "event_id": "flood-1", "customer_id": "cus-flooded"}', '{"permit_id":"068be712-1d63-4e1d-91d4-12d2d329fe64","state":"granted","kind":"notification","customer_id":"cus-flooded","items":[],"withheld":[],"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","provider_idempotency_key":"26f06b87a38172485fb66b33fe2817338ba6f575b38d659f","message_id":"<068be712-1d63-4e1d-91d4-12d2d329fe64.896977fbb01afc2d@send-ledger.invalid>","windows":{"outreach_24h":{"used":2,"limit":2}},"position":"23","decision_id":"068be712-1d63-4e1d-91d4-12d2d329fe64"}'),
	(0, 'bdf3bd3a-dfc8-4c23-aacb-432b6021cea9', '2026-11-29 09:00:00+00', 25, 'permit', 'key_first', 'first', 'notification', 'cus-flooded', NULL, NULL, 429, 'cap_reached', false, '2d5c6e24171b6657', '{"kind": "notification", "event_type": "order.shipped", "event_id": "flood-2", "customer_id": "cus-flooded"}', '{"type":"/problems/cap_reached","title":"The customer has had as many mails as allowed","status":429,"detail":"customer cus-flooded has had 2 of 2 mails in the window outreach_24h","code":"cap_reached","retryable":false,"decision_id":"bdf3bd3a-dfc8-4c23-aacb-432b6021cea9","available_at":"2026-11-30T09:00:00Z"}'),
	(0, '4d1cad73-b5a2-4945-bfc0-3e21c49b2f81', '2026-11-30 12:00:00+00', 113, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-00', 'inv-00', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-00"], "stage": "day-3"}', '{"permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","state":"granted","kind":"reminder","customer_id":"cus-inv-00","items":[{"invoice_id":"inv-00","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"f0c630ad3dbf042560eb2a03ebfc3b945e265815df4aa682","message_id":"<4d1cad73-b5a2-4945-bfc0-3e21c49b2f81.fa3faa5a6523437f@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"113","decision_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81"}'),
	(0, '2ff01230-ad71-437d-b7e4-7f8187d7b35b', '2026-11-30 12:00:00+00', 117, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-01', 'inv-01', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-01"], "stage": "day-3"}', '{"permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","state":"granted","kind":"reminder","customer_id":"cus-inv-01","items":[{"invoice_id":"inv-01","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"8a90dff8d5997257b6aa5ddf3468fcbc83f6d5e1f23bec67","message_id":"<2ff01230-ad71-437d-b7e4-7f8187d7b35b.9d29760d1f95eb59@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"117","decision_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b"}'),
	(0, 'be9c1589-cb99-4be6-846b-eb5f72033d66', '2026-11-30 12:00:00+00', 121, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-02', 'inv-02', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-02"], "stage": "day-3"}', '{"permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","state":"granted","kind":"reminder","customer_id":"cus-inv-02","items":[{"invoice_id":"inv-02","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"62891fd2bbf423bba33d356f1f41831b92bc9d49cc581f44","message_id":"<be9c1589-cb99-4be6-846b-eb5f72033d66.8d9d5a2bd05d5675@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"121","decision_id":"be9c1589-cb99-4be6-846b-eb5f72033d66"}'),
	(0, 'ed562a7c-9186-4aaf-840c-26c00e2e34bd', '2026-11-30 12:00:00+00', 125, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-03', 'inv-03', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-03"], "stage": "day-3"}', '{"permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","state":"granted","kind":"reminder","customer_id":"cus-inv-03","items":[{"invoice_id":"inv-03","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"776aa2152b091a63c7183c919b9a53a257ec130a5f5db228","message_id":"<ed562a7c-9186-4aaf-840c-26c00e2e34bd.7cc84f25653f0663@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"125","decision_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd"}'),
	(0, '5c0e9731-94d2-4804-a2de-80d4e4224b96', '2026-11-30 12:00:00+00', 129, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-04', 'inv-04', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-04"], "stage": "day-3"}', '{"permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","state":"granted","kind":"reminder","customer_id":"cus-inv-04","items":[{"invoice_id":"inv-04","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"464b1dcb3316acaba6fae9235b697f7e92f4f7227953daa3","message_id":"<5c0e9731-94d2-4804-a2de-80d4e4224b96.d511e3ed924210ca@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"129","decision_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96"}'),
	(0, 'fe093c7b-5e07-4c91-bffe-04761c286b7b', '2026-11-30 12:00:00+00', 133, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-05', 'inv-05', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-05"], "stage": "day-3"}', '{"permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","state":"granted","kind":"reminder","customer_id":"cus-inv-05","items":[{"invoice_id":"inv-05","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"cdf61cb199cd47eb8bc6b69bd49850598e7564a04f0e78b7","message_id":"<fe093c7b-5e07-4c91-bffe-04761c286b7b.65f35ffd8056b045@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"133","decision_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b"}'),
	(0, '1f035d8f-97c5-43b4-b7e7-e28ae60af636', '2026-11-30 12:00:00+00', 137, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-06', 'inv-06', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-06"], "stage": "day-3"}', '{"permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","state":"granted","kind":"reminder","customer_id":"cus-inv-06","items":[{"invoice_id":"inv-06","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"3e1510383455c44b9ef013ac007f52960f285199b823e8bc","message_id":"<1f035d8f-97c5-43b4-b7e7-e28ae60af636.0743fff3cc32a036@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"137","decision_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636"}'),
	(0, '6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed', '2026-11-30 12:00:00+00', 141, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-07', 'inv-07', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-07"], "stage": "day-3"}', '{"permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","state":"granted","kind":"reminder","customer_id":"cus-inv-07","items":[{"invoice_id":"inv-07","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"62bf47305a4e83da2f8e3333e60888b398b825b24f340b6f","message_id":"<6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed.f43f3831dfe13404@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"141","decision_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed"}'),
	(0, 'b0cba5c4-5b34-4156-b712-f21dea8ca03d', '2026-11-30 12:00:00+00', 145, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-08', 'inv-08', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-08"], "stage": "day-3"}', '{"permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","state":"granted","kind":"reminder","customer_id":"cus-inv-08","items":[{"invoice_id":"inv-08","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"b8d0704d0a72ab3500c1901359269598dc81a144731e8890","message_id":"<b0cba5c4-5b34-4156-b712-f21dea8ca03d.62717f17f0dcad7d@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"145","decision_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d"}'),
	(0, '49bac78c-4b83-4a6d-9150-a9b3108af781', '2026-11-30 12:00:00+00', 149, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-09', 'inv-09', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-09"], "stage": "day-3"}', '{"permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","state":"granted","kind":"reminder","customer_id":"cus-inv-09","items":[{"invoice_id":"inv-09","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"0e57ebc835ab789f695f1abb0bcbc623427212309915b3f3","message_id":"<49bac78c-4b83-4a6d-9150-a9b3108af781.0bbeb06d829e6bf3@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"149","decision_id":"49bac78c-4b83-4a6d-9150-a9b3108af781"}'),
	(0, '2ef76324-8b03-4a70-bfc9-84cfd58b1191', '2026-11-30 12:00:00+00', 153, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-10', 'inv-10', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-10"], "stage": "day-3"}', '{"permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","state":"granted","kind":"reminder","customer_id":"cus-inv-10","items":[{"invoice_id":"inv-10","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"a03f8543a654187d3c94d8361947556c6688a02ca8d57552","message_id":"<2ef76324-8b03-4a70-bfc9-84cfd58b1191.58e135beb3054d3f@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"153","decision_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191"}'),
	(0, '38dc6915-78f8-47c0-8ca2-c1a7338f544f', '2026-11-30 12:00:00+00', 157, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-11', 'inv-11', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-11"], "stage": "day-3"}', '{"permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","state":"granted","kind":"reminder","customer_id":"cus-inv-11","items":[{"invoice_id":"inv-11","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"dc5064b227ba48e0dcdbe84cf859f903bdf674748264c801","message_id":"<38dc6915-78f8-47c0-8ca2-c1a7338f544f.c4bf2f3ce4f5c267@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"157","decision_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f"}'),
	(0, '73a0ad91-8c9f-4b09-9dce-5976d980bfef', '2026-11-30 12:00:00+00', 161, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-12', 'inv-12', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-12"], "stage": "day-3"}', '{"permit_id":"73a0ad91-8c9f-4b09-9dce-5976d980bfef","state":"granted","kind":"reminder","customer_id":"cus-inv-12","items":[{"invoice_id":"inv-12","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"592798725b3641a8af897d99ff14f58601a8030687144d05","message_id":"<73a0ad91-8c9f-4b09-9dce-5976d980bfef.206fe15ab13ad5d5@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"161","decision_id":"73a0ad91-8c9f-4b09-9dce-5976d980bfef"}'),
	(0, '228978dc-0c39-404a-b72a-62f27da16936', '2026-11-30 12:00:00+00', 163, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-13', 'inv-13', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-13"], "stage": "day-3"}', '{"permit_id":"228978dc-0c39-404a-b72a-62f27da16936","state":"granted","kind":"reminder","customer_id":"cus-inv-13","items":[{"invoice_id":"inv-13","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"074a13060b64dab0f11dd64cb84697dd8dc773032c21f38a","message_id":"<228978dc-0c39-404a-b72a-62f27da16936.870082e363160560@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"163","decision_id":"228978dc-0c39-404a-b72a-62f27da16936"}'),
	(0, 'ac4b2330-f811-412b-bfeb-ee50d7a5a39b', '2026-11-30 12:00:00+00', 164, 'redeem', 'key_first', 'first', NULL, 'cus-inv-13', 'inv-13', NULL, 200, NULL, false, '2d5c6e24171b6657', '{"permit_id":"228978dc-0c39-404a-b72a-62f27da16936","attempt":"attempt-1"}', '{"permit_id":"228978dc-0c39-404a-b72a-62f27da16936","state":"redeemed","kind":"reminder","customer_id":"cus-inv-13","items":[{"invoice_id":"inv-13","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","redeemed_at":"2026-11-30T12:00:00Z","settled_at":null,"provider_message_id":null,"message_id":"<228978dc-0c39-404a-b72a-62f27da16936.870082e363160560@send-ledger.invalid>","position":"164","decision_id":"ac4b2330-f811-412b-bfeb-ee50d7a5a39b"}'),
	(0, '9b36a382-bc49-48d4-b39f-5557cbf0adb8', '2026-11-30 12:00:00+00', 166, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-14', 'inv-14', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-14"], "stage": "day-3"}', '{"permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","state":"granted","kind":"reminder","customer_id":"cus-inv-14","items":[{"invoice_id":"inv-14","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"4658f2f6e7be25a52dd1a7e70bbebfc82d8c7a261236a4f9","message_id":"<9b36a382-bc49-48d4-b39f-5557cbf0adb8.eaf527cf0eb3bddb@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"166","decision_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8"}'),
	(0, 'c6cc94f7-92d3-4d02-bf67-33313777bad4', '2026-11-30 12:00:00+00', 170, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-15', 'inv-15', NULL, 201, NULL, false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-15"], "stage": "day-3"}', '{"permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","state":"granted","kind":"reminder","customer_id":"cus-inv-15","items":[{"invoice_id":"inv-15","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD"}],"withheld":[],"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","provider_idempotency_key":"385cd930783750d12513cc862afd0a87e45b23810dfb7835","message_id":"<c6cc94f7-92d3-4d02-bf67-33313777bad4.5a78a0b5a1c981c4@send-ledger.invalid>","windows":{"outreach_24h":{"used":1,"limit":2}},"position":"170","decision_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4"}'),
	(0, 'b3cda9b5-ef75-492f-b37a-37f627ed2f70', '2026-11-30 12:00:00+00', 172, 'permit', 'key_first', 'first', 'reminder', 'cus-inv-00', 'inv-00', NULL, 409, 'already_sent', false, '2d5c6e24171b6657', '{"kind": "reminder", "invoices": ["inv-00"], "stage": "day-3"}', '{"type":"/problems/already_sent","title":"This send has already been made","status":409,"detail":"day-3 of invoice inv-00 was sent at 2026-11-30T12:00:00+00:00 by first","code":"already_sent","retryable":false,"decision_id":"b3cda9b5-ef75-492f-b37a-37f627ed2f70","permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","original":{"permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","sender":"first","sent_at":"2026-11-30T12:00:00Z","provider_message_id":null},"withheld":[{"invoice_id":"inv-00","code":"already_sent"}]}');


--
-- Data for Name: events; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.events VALUES
	(0, 1, 'fb6ecad1-1d70-5fd8-b9b7-659c5fc336c1', 1, 'ledger:Control.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Control"}', '2026-11-29 09:00:00+00', '\x8162e1c0791efb67ac2592c7dc0309fe64635c581cc6eab53519a766bb4dd397'),
	(0, 2, '2c36314d-9be0-566a-9b79-5369add1211a', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-pat"}', '2026-11-29 09:00:00+00', '\x13b222384f9e7b118c08ab71b05b12e158471957f9f34eb2f815b44d43596164'),
	(0, 3, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 1, 'ledger:Thread.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Thread","thread_id":"thr-1","customer_id":"cus-pat"}', '2026-11-29 09:00:00+00', '\x39332ae454e14de79335eac7fc4b5aaa30cd9ec166a45d1694cc9190fc3bfec1'),
	(0, 4, '2c36314d-9be0-566a-9b79-5369add1211a', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-29T09:00:00Z","fingerprints":["50fc64e148b053ccb346be10bfc7a9af"],"observed_at":"1970-01-01T00:00:00Z"}', '2026-11-29 09:00:00+00', '\x5120e56bd968bcb36482c0306fa6bbf1d8f3752144e4f87b050ec722f393b62d'),
	(0, 5, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 2, 'ledger:Thread.MessageSeen', '{"timestamp":"2026-11-29T09:00:00Z","message_id":"<question@example.com>","message":{"direction":"inbound","automatic":null,"ours":false},"sender":"50fc64e148b053ccb346be10bfc7a9af","recipient":null,"seen_at":"2026-11-29T09:00:00Z"}', '2026-11-29 09:00:00+00', '\x92b71cd6293a35bfa0d152e280c7056667e95b1daca5a9cc00325f601e51e59e'),
	(0, 6, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 3, 'ledger:Thread.SendPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","sender":"first","slot":"reply:<question@example.com>"}', '2026-11-29 09:00:00+00', '\xf096475125d4d797ea80c9751041382575d96eef67eb036a45192d98b1d92aab'),
	(0, 7, '2c36314d-9be0-566a-9b79-5369add1211a', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","kind":"reply","lane":"reply","state":"granted","customer_id":"cus-pat","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":"thr-1","invoice_id":null,"incident_id":null,"slots":["reply:<question@example.com>"],"named":null,"address":"50fc64e148b053ccb346be10bfc7a9af","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\xce77d29bcd57272e8d6b6fc81bb9e03da421fad3f250492f9139bc39c2276ed3'),
	(0, 8, '2c36314d-9be0-566a-9b79-5369add1211a', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\x6d18259ad55330b65dc719c5079b3bad0c332b6948f03ce9fe6cb10f87705434'),
	(0, 9, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 4, 'ledger:Thread.SendSettled', '{"timestamp":"2026-11-29T09:00:00Z","slot":"reply:<question@example.com>","record":{"permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","state":"sent","sender":"first","counts_at":"2026-11-29T09:00:00Z","provider_message_id":null,"overtaken":null,"counts":true},"rejections":0}', '2026-11-29 09:00:00+00', '\xdc3b9ad52f842b03d6575625758f6744be31fcf0cc79cb58e6a70efad12b64a6'),
	(0, 10, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 5, 'ledger:Thread.SendPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","sender":"first","slot":"intent:refund_notice"}', '2026-11-29 09:00:00+00', '\xe5bee4949653cd1d7ff662eab8629982d059f34710b557012737020c727cfa63'),
	(0, 11, '2c36314d-9be0-566a-9b79-5369add1211a', 5, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","kind":"message","lane":"outreach","state":"granted","customer_id":"cus-pat","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":"thr-1","invoice_id":null,"incident_id":null,"slots":["intent:refund_notice"],"named":null,"address":"50fc64e148b053ccb346be10bfc7a9af","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\x57f4766d4ada53252704fd414141b52f12944d248f40d41f3ea5ddebe371b351'),
	(0, 12, '2c36314d-9be0-566a-9b79-5369add1211a', 6, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\x57dc2fbdabb7c41ff47ce24beee5bc20aaf9c3710eb9ecd0ea9a0ce16b7852fe'),
	(0, 13, '00bb32b1-cc8f-5cde-a023-00b9792478fa', 6, 'ledger:Thread.SendSettled', '{"timestamp":"2026-11-29T09:00:00Z","slot":"intent:refund_notice","record":{"permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","state":"sent","sender":"first","counts_at":"2026-11-29T09:00:00Z","provider_message_id":null,"overtaken":null,"counts":true},"rejections":0}', '2026-11-29 09:00:00+00', '\x19e3f2df420d527b52b697a8cdbea3ffd9cd0418624150f70fff6f2dedbd9637'),
	(0, 14, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-ann"}', '2026-11-29 09:00:00+00', '\x6e9c40ad4cbde8e55b83fa0bb5838ac173d7dafdb330e14e621329203f590fc6'),
	(0, 15, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-29T09:00:00Z","fingerprints":["42e8ad55d42b8c26a13bac2693d7e5c0"],"observed_at":"1970-01-01T00:00:00Z"}', '2026-11-29 09:00:00+00', '\x8b1421eb5c0d06fdb62a3db0561474dafa519270b8e438a7e1735a73c6ce7e18'),
	(0, 16, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"1c807432-2294-43c7-bb9a-7a065ff62866","kind":"notification","lane":"outreach","state":"granted","customer_id":"cus-ann","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"43e0b7b69a5ce110c6c3348430b055d9cababa0535dd711a8967ae84ffdb6f02","address":"42e8ad55d42b8c26a13bac2693d7e5c0","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\x46faadb05cb698d13477b155f4808186cc2541bb450c147e5084c4ff9d27e730'),
	(0, 17, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"1c807432-2294-43c7-bb9a-7a065ff62866","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\xd99cd038185882d29458daca37dbac6aa89aed02ebe2216bd606851b3105140b'),
	(0, 18, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 5, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"519e6aed-bdca-4f85-91b8-672e2a6390a1","kind":"digest","lane":"outreach","state":"granted","customer_id":"cus-ann","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"46d528d2f1587f878e9f02222c92e8c58828764c24316a41bef0e1d41d15c30f","address":"42e8ad55d42b8c26a13bac2693d7e5c0","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\xd6453690567f1943ca3cd3a8ec963e0469262410740f0d8583236b2b8bfae1e9'),
	(0, 19, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 6, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"519e6aed-bdca-4f85-91b8-672e2a6390a1","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\x054de685f0b52695a52cd24a52b7412a773ec23ca1e5b72a30cd8d1f6add73f3'),
	(0, 20, '2cb2baf8-0f6f-513b-9994-925fe1821366', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-flooded"}', '2026-11-29 09:00:00+00', '\x739cca3cc9d1328bdd68ad9517450f1b19ae60f989400c3f9babdf693b44b753'),
	(0, 21, '2cb2baf8-0f6f-513b-9994-925fe1821366', 2, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"cc4b59b4-6561-4dcc-990b-4f82858a76a1","kind":"notification","lane":"outreach","state":"granted","customer_id":"cus-flooded","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"58758a8f630e279588d024e0f5ccd836ccff798d4696c578ee18f89da5f608b2","address":null,"redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\x8a86325ba9aa1983b8e459c45ed65c7f14b71ba8762b9a24fa876ed05e74d36a'),
	(0, 22, '2cb2baf8-0f6f-513b-9994-925fe1821366', 3, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"cc4b59b4-6561-4dcc-990b-4f82858a76a1","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\x26273d2d3ab1edb0d549121b28f5575348c4e343f9e6b53f37ad3e2338ad5c5c'),
	(0, 23, '2cb2baf8-0f6f-513b-9994-925fe1821366', 4, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-29T09:00:00Z","permit":{"permit_id":"068be712-1d63-4e1d-91d4-12d2d329fe64","kind":"notification","lane":"outreach","state":"granted","customer_id":"cus-flooded","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"8c03bae1a0e366e8dba4b9501e3355bec155d0323db40b3eb34152873fc3d20c","address":null,"redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}}', '2026-11-29 09:00:00+00', '\x9b62f510cb7a7ab4109ca4a4e0502597bfb758703c2481d2032bdd452da6be90'),
	(0, 24, '2cb2baf8-0f6f-513b-9994-925fe1821366', 5, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-29T09:00:00Z","permit_id":"068be712-1d63-4e1d-91d4-12d2d329fe64","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-29 09:00:00+00', '\xc36a709b4f1add66616764833b55666655eb18518395348e8009658310960c9a'),
	(0, 25, '2cb2baf8-0f6f-513b-9994-925fe1821366', 6, 'ledger:Customer.BreakerOpened', '{"timestamp":"2026-11-29T09:00:00Z","scope":"outreach","cause":"customer cus-flooded has had 2 of 2 mails in the window outreach_24h"}', '2026-11-29 09:00:00+00', '\xffd2bc40aa6ad2ab0374260a70ae0a60a72d1352bd16302d2550970f671dd6be'),
	(0, 26, '9303fc4d-c5e8-555f-86f4-bbbe189416e4', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-old"}', '2026-11-29 09:00:00+00', '\x4a8be6a358f695eaf9474b32efab9e318ddf0f6ed1f15a7a5b3d53fdabb61f41'),
	(0, 27, '9303fc4d-c5e8-555f-86f4-bbbe189416e4', 2, 'ledger:Customer.MergedInto', '{"timestamp":"2026-11-29T09:00:00Z","into":"cus-ann"}', '2026-11-29 09:00:00+00', '\x8258170f8e86a3e305ac64eebff3cb6862be3cbb4772b049edda995d2bea7e5f'),
	(0, 28, 'b8e54338-4c3a-57af-bdb4-f5ec7d43fbd8', 7, 'ledger:Customer.Absorbed', '{"timestamp":"2026-11-29T09:00:00Z","customer_id":"cus-old","permits":[],"holds":[],"breaker":null,"addresses":[],"held_addresses":{},"apologies":{},"held_until":null,"indefinite":false,"absorbed":[]}', '2026-11-29 09:00:00+00', '\xb673a4904759172980ee7771b09c1cfe0a82f42d37faf9b83fd0bbff9cb069ae'),
	(0, 29, '6b6df9a9-38a6-5d10-a119-6724ae64e2c7', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-29T09:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-held"}', '2026-11-29 09:00:00+00', '\x8c6fbcd35cfac08e8e3e144e95121543858db8a0063efedd3a9feb157f760548'),
	(0, 30, '6b6df9a9-38a6-5d10-a119-6724ae64e2c7', 2, 'ledger:Customer.HoldPlaced', '{"timestamp":"2026-11-29T09:00:00Z","hold":{"reason":"dispute","held":true,"at":"2026-11-29T09:00:00Z","until":null,"kinds":[]},"held_until":null,"indefinite":true}', '2026-11-29 09:00:00+00', '\xcbedadaa94cad31162b1561d180cb9cde3648ea0677f507da6567bc944acb5b4'),
	(0, 31, 'fb6ecad1-1d70-5fd8-b9b7-659c5fc336c1', 2, 'ledger:Control.Paused', '{"timestamp":"2026-11-29T09:00:00Z","scope":"kind:follow_up","reason":"a bug","by":"ann"}', '2026-11-29 09:00:00+00', '\x24397c4fc9996ddbd4cc4757088986ee2abd1c69007754f3757069c525240e21'),
	(0, 32, 'd4dd3045-bd3f-538b-94de-adfe7dec7599', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-00"}', '2026-11-30 12:00:00+00', '\x4be6e2f01ecc4ad8c7b159732ebdc96070a2527cfd07fe49e00c665ff0fb20c3'),
	(0, 33, '43c5efb7-383f-561b-8fbb-e35c9dcdc2f6', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-00"}', '2026-11-30 12:00:00+00', '\x77c7567b132ce8c7d1d033ce1e8ceb9d164bb223f7fae472225cb1c111ccff58'),
	(0, 34, '43c5efb7-383f-561b-8fbb-e35c9dcdc2f6', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-00","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"0f8fc4f0a4f4567c0ae3a430f1673674"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x6bc59bb61019680a41e2303c20bf08f4f84fb22c20253317bbce41991e3440cd'),
	(0, 35, 'd4dd3045-bd3f-538b-94de-adfe7dec7599', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["0f8fc4f0a4f4567c0ae3a430f1673674"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x9954cbe79c63e6b72d557192bd505231fd693bc9ba8a30df88cc40dc498fbf04'),
	(0, 36, '9dd63f01-6bb6-5ffd-857d-496c47dbf7c9', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-01"}', '2026-11-30 12:00:00+00', '\x057f75cf1bd31830b7cb75b0a8dac41de1d2bd2a0ded4a1e47bb94e6fcc9fd48'),
	(0, 37, 'c44f5c75-be1c-5deb-989c-3269c4ef9a1e', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-01"}', '2026-11-30 12:00:00+00', '\x927a3c579f9246f6e3e9bd760f5b7981ba77d8f3cf4a6c9b0df02527452ef713'),
	(0, 38, 'c44f5c75-be1c-5deb-989c-3269c4ef9a1e', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-01","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"43072c60b59e8e11d5db3d2a3f8bef6a"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x3fe0848c976b8cea5d7b923b90c981174d0b8f6b4931dc663040d14e6e82fb17'),
	(0, 39, '9dd63f01-6bb6-5ffd-857d-496c47dbf7c9', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["43072c60b59e8e11d5db3d2a3f8bef6a"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\xdeb4f8bd796870e6d728c5a8752a8c21301261f09b4022676c16a31c8b2f8b39'),
	(0, 40, '309f175a-cf0f-5749-8945-c324f1f461c7', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-02"}', '2026-11-30 12:00:00+00', '\x7c5abb2abd8a55046bc03306dfc5c5476c16e0087a1c50d5099cb1778e67bf8a'),
	(0, 41, 'e53ada84-98fc-5742-822c-b1d62a91286a', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-02"}', '2026-11-30 12:00:00+00', '\xf4bab0730791a13b26e21d6bb6a19c77c487c8c4a2e669576cfec04c3642900b'),
	(0, 42, 'e53ada84-98fc-5742-822c-b1d62a91286a', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-02","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"2c9566510c18b44af1d79ba4e9a6045c"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x2213fd1238d8bb2b3cb278164e6809e91bfe9a0b1c7bb38913d437291c6b250d'),
	(0, 43, '309f175a-cf0f-5749-8945-c324f1f461c7', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["2c9566510c18b44af1d79ba4e9a6045c"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x469c3429a9fc9cec5d844afb4755142cd5a16f795638757e276747a518917cb9'),
	(0, 44, '4c99dc54-7a18-5438-b02f-f133306e532a', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-03"}', '2026-11-30 12:00:00+00', '\xa29663ef504909b4974a2ce1e6b4d89d6285601e03b702b265e2ec6d8ce02d79'),
	(0, 45, '9834cbc9-5222-50d0-b980-3d709226752b', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-03"}', '2026-11-30 12:00:00+00', '\x1aae2d0021dc67c8b2a077ccff6d5f645cfb40fa4cdbc33a65a1f053116ef5bb'),
	(0, 46, '9834cbc9-5222-50d0-b980-3d709226752b', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-03","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"53f80abc36053f614418ac8743e8dd6d"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xe0689f4094c5cb317f5dd1feea3e474cf5798ad47e1cc862a3a5a90a838cce16'),
	(0, 47, '4c99dc54-7a18-5438-b02f-f133306e532a', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["53f80abc36053f614418ac8743e8dd6d"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\xcc5e0c1d6eb87fac88ffdf4812e5fa690d5d875dd17a79a6b0b0f2fc283b9493'),
	(0, 48, '6899e72d-5a12-53c8-a903-0afe4ef2fc70', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-04"}', '2026-11-30 12:00:00+00', '\xe352d14ded0e6562c45dfaf6eb12398ce0aed837ee17357b3575066009174e7c'),
	(0, 49, '5afd2fa8-0fdf-507e-8167-480132fea52d', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-04"}', '2026-11-30 12:00:00+00', '\xfe8e542a200bcfa5e94384fefbfd99f8cf73731b479d56ef95f4ac94bdad84a0'),
	(0, 50, '5afd2fa8-0fdf-507e-8167-480132fea52d', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-04","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"7d04b80a3796a21e14f58fd371f4054f"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xeb4d80cac1aedcc99da8318a74484da8ce5c8424b58628a2a72a8e7c2850efc4'),
	(0, 51, '6899e72d-5a12-53c8-a903-0afe4ef2fc70', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["7d04b80a3796a21e14f58fd371f4054f"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x1548d34b135d655bb8cb0d1c41800131535b90d051dd4a8f7e892d87595d8c00'),
	(0, 52, '4f776d70-3948-5e51-a21e-a7ba61c70cbe', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-05"}', '2026-11-30 12:00:00+00', '\xe9dac190a99412f08c1bb16348d4b2c8e95c240697427ea0baa4f226ea832b9f'),
	(0, 53, 'a5bfb0ae-01f2-5de2-bbfa-1fd35d910263', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-05"}', '2026-11-30 12:00:00+00', '\x908d9a34a5fb8a5676c6c6bd8d1b9f22bc933b5a6bee9d2295787ab3ae4ef8f5'),
	(0, 54, 'a5bfb0ae-01f2-5de2-bbfa-1fd35d910263', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-05","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"5e2d789e84d831cccbfb9b34255cba17"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x4dffd90239a06cb313a01fad33c5fb4faa7796519341edb2eb4e59580e9d9b72'),
	(0, 55, '4f776d70-3948-5e51-a21e-a7ba61c70cbe', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["5e2d789e84d831cccbfb9b34255cba17"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x245a83a2543efd404e20b3df7ad4faa31c9d2813df3b90bfe427812dff476ab9'),
	(0, 56, '83110166-e396-53d1-a536-8e74fbc7f39f', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-06"}', '2026-11-30 12:00:00+00', '\x1f8b5e6c247f52fded2d806d024b86c7d67699925abedb0348d96c8bba2ed034'),
	(0, 57, 'fe3ccfcc-fb59-5d58-b803-18a509f72290', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-06"}', '2026-11-30 12:00:00+00', '\xd779113c09ecfb992c72502c7207b668b1edf3e7629b02799acde98d01985092'),
	(0, 58, 'fe3ccfcc-fb59-5d58-b803-18a509f72290', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-06","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"bc5715365415e6c45151133cd23bdf23"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x518af3ecb51e7600166359f61210887d8cd6580e68f0af063dd4644a73ecb809'),
	(0, 59, '83110166-e396-53d1-a536-8e74fbc7f39f', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["bc5715365415e6c45151133cd23bdf23"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x05e8bf26e41aed51396109e6b1377953a77cf3fa9792325db2afd1cac706ba59'),
	(0, 60, '0f9d4f8f-a3a0-5cb0-80cf-c56f2c99c02f', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-07"}', '2026-11-30 12:00:00+00', '\x38c39a2597634021a06df904ac42e2525d560e787ee91617e1c6d951381f94c2'),
	(0, 61, '47ad4c0f-d43a-5653-94e3-6878a981c4a4', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-07"}', '2026-11-30 12:00:00+00', '\xeab056afe9ddb9bad32fe0f63842d24451d2b698f77310f73abf6d45ca343177'),
	(0, 62, '47ad4c0f-d43a-5653-94e3-6878a981c4a4', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-07","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"3cdbc2a0820511d5cb6e1a07bbb06056"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x241586054cda5a0ad3a8eb8c08839a3ca35d0c6022d3ef38128311923556a4c7'),
	(0, 63, '0f9d4f8f-a3a0-5cb0-80cf-c56f2c99c02f', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["3cdbc2a0820511d5cb6e1a07bbb06056"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x249202b2579f546ea90e0f65ff327b4c293a11e8024bdf91afb080ad5739dce7'),
	(0, 64, '9e4f5bf2-37d1-5b01-9105-c9979f219d60', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-08"}', '2026-11-30 12:00:00+00', '\xa78ec709de6ada35f7b1a96af1288b99d6f579cf4f04cc0e7a44a6c533bcc6a4'),
	(0, 65, '03ac2150-4b59-5b8e-b77e-3c4634ff7742', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-08"}', '2026-11-30 12:00:00+00', '\x60a7f6999e883d9d532ae695c6626105a1f60304d49206eb878350b1841343ab'),
	(0, 66, '03ac2150-4b59-5b8e-b77e-3c4634ff7742', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-08","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"03a202529a6d0c094e59cca941247bb1"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x88b1c86ae450e935f04b103eaba7c3d75f849d1937acc1e4d5873d6a47f0a770'),
	(0, 67, '9e4f5bf2-37d1-5b01-9105-c9979f219d60', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["03a202529a6d0c094e59cca941247bb1"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\xa33db77cc4a9995596d5c336c177b48eeece818913ffb18e49a1eac23d1702b7'),
	(0, 68, '66850485-916a-513c-863d-bcf2f6b13f4f', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-09"}', '2026-11-30 12:00:00+00', '\x0f9ab40f9c4a0f9095d5721e2e1460dbe7f40a51fabb4b1db308a123c0b22668'),
	(0, 69, '8d9aa012-9ed6-517a-b589-b7ae79647371', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-09"}', '2026-11-30 12:00:00+00', '\xbf54639d22162966b8fd17707aedb3a04d8d07a3ff6221f7478c1ea1fb1957b0'),
	(0, 70, '8d9aa012-9ed6-517a-b589-b7ae79647371', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-09","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"0b20e1500c0e0b87b42811af90e63664"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x5aef047dd4558ee1249dd9f944b533b02480d1315168e5730b5211c81732895f'),
	(0, 71, '66850485-916a-513c-863d-bcf2f6b13f4f', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["0b20e1500c0e0b87b42811af90e63664"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x5035543b2473473be4544c2ea004f3c25150e1f8844693a1f5684d38f23a5c52'),
	(0, 72, '5829c2d9-527b-5f4f-94a7-05110763876d', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-10"}', '2026-11-30 12:00:00+00', '\x0d81f218478b929f4ce09ab6a8bfb0a469c23e6bd8ded774cddebf2316a0802e'),
	(0, 73, '00cd70ec-0dd3-5f46-b79b-cf7d0c7aec94', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-10"}', '2026-11-30 12:00:00+00', '\x7c437556f94ee3baccf0d3496d060c289a666e3d28062c6f0f920a17d5f5aa07'),
	(0, 74, '00cd70ec-0dd3-5f46-b79b-cf7d0c7aec94', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-10","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"40ad93b3246836cc0df39bc730aadf45"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xab14358dd7f007e955b1c12a8b37604e39f9f746b453f8003a9bec0ede985a02'),
	(0, 75, '5829c2d9-527b-5f4f-94a7-05110763876d', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["40ad93b3246836cc0df39bc730aadf45"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x31ca6444483e1881152659e1d4b3d5b195e1777e4a36c71a09278dcbfbea09e0'),
	(0, 76, 'f2ba6e03-cd59-5ee3-9302-64b4536ed671', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-11"}', '2026-11-30 12:00:00+00', '\x721091933e5c42b756e4414a52e8476a48ce8b4ff99cb5c3a8a69eee4f662b49'),
	(0, 77, 'a1961c5e-f04c-5e5d-94f3-8d3e8c50315c', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-11"}', '2026-11-30 12:00:00+00', '\xbd977349ecfe69304bdc0100c0080098b5667654bb66c4f26f2a4c3a72e89e75'),
	(0, 78, 'a1961c5e-f04c-5e5d-94f3-8d3e8c50315c', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-11","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"97b14748e139fb5f6dcec2eccd66197b"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x39d7a44ae5fa69de3dc6111706805a0b23a7f97d4e643626e3626d208e643c95'),
	(0, 79, 'f2ba6e03-cd59-5ee3-9302-64b4536ed671', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["97b14748e139fb5f6dcec2eccd66197b"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x3c9f9c3a1953e38ec1cd13de445dc93e3a1d8dfd9ea508e8215803c87477485e'),
	(0, 80, '2b0ad429-3519-5b79-b5c8-91bb7636ce8b', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-12"}', '2026-11-30 12:00:00+00', '\xb9c06bd324f72ec1ac68d16feb5ae068fd47756171f6c4ae845db889aed7532b'),
	(0, 81, 'f9dcb9d0-7303-5931-bb0a-874bab8056c0', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-12"}', '2026-11-30 12:00:00+00', '\x70af36505ecb862957739aca55bb9e2f55b2a6d07de158226940fd65548b8bc2'),
	(0, 82, 'f9dcb9d0-7303-5931-bb0a-874bab8056c0', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-12","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"7b3cdca43dbfd950b1e08881f031a7b9"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x0cf34c6880e3611f2ed05fab1cdcbd3073b451a334f778c5e5b79c6cc09141bf'),
	(0, 83, '2b0ad429-3519-5b79-b5c8-91bb7636ce8b', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["7b3cdca43dbfd950b1e08881f031a7b9"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x37049953ccec1acb08a8e5d1bf95e3391dc9c49b736200dc487e97a181416da8'),
	(0, 84, '9b183759-a0e3-5685-86a2-e801485a8c04', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-13"}', '2026-11-30 12:00:00+00', '\xbabe9d8af8b48a7226043ce47845dc69c70353a8eadf7097431601fb28731ce2'),
	(0, 85, '5a3e1e47-e916-5bda-b466-9e13b008ccac', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-13"}', '2026-11-30 12:00:00+00', '\x6a4ffe4d3f53c88c9c7c6645a9f2fa79fb1e71aa38df29968b195430b80ede39'),
	(0, 86, '5a3e1e47-e916-5bda-b466-9e13b008ccac', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-13","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"348b0ab40937a9f1426ee571d8dc49a4"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x3ccfc35ddfb9f61aee8c23dc361fb613c6bd319e3bb9421c89df4323e0968784'),
	(0, 87, '9b183759-a0e3-5685-86a2-e801485a8c04', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["348b0ab40937a9f1426ee571d8dc49a4"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x65ef23c2b3c972ea3e7290ce670341471af86e8b0694a4099f0f71b5a8bb66e8'),
	(0, 88, '0ebb3b68-e4a1-5ddc-8be1-7b7dea077b42', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-14"}', '2026-11-30 12:00:00+00', '\x41b21be8b7f978290a812a93b8be28f9cc4a5dd8fdf74e0a46de91b3f0a8c1bb'),
	(0, 89, '5eae15c1-366a-5ae4-ae68-17f896d0d454', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-14"}', '2026-11-30 12:00:00+00', '\x0f31e98f5a995318fbe05d52cb1dfdc2e4bc72262f7b0a3df6a1f9c4832fbaca'),
	(0, 90, '5eae15c1-366a-5ae4-ae68-17f896d0d454', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-14","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"63f6d91a033777510f15d1df54cb0dbf"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xb099bd3a544cddd41c3c82e96c35d8882d5ba2fd19f6f08c5825c8e9890d8ebd'),
	(0, 91, '0ebb3b68-e4a1-5ddc-8be1-7b7dea077b42', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["63f6d91a033777510f15d1df54cb0dbf"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\xea8bfe0c3473ed537ffa2baeaa2440d58ef9ff578cdadfe5138fc929a6c9a3e7'),
	(0, 92, '05e83016-46ac-5a1d-8405-100c21392124', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-15"}', '2026-11-30 12:00:00+00', '\xc721209e9d807692aa78b921294c576d89410e0c58f491aa2b9b9fe268062750'),
	(0, 93, '1e08a4f3-2801-508c-92b0-969c0dbfdf3b', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-15"}', '2026-11-30 12:00:00+00', '\xb530f22e649a4ad6873269540f2ab0f6fbc095f6e7e774331a8ee8269066be33'),
	(0, 94, '1e08a4f3-2801-508c-92b0-969c0dbfdf3b', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-15","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"45e885b4153b647f1b255fd9dbdc3eb4"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x276383e9bff41745db71d0fc678e8d02761c9e76afe9efffa2cad54754785b99'),
	(0, 95, '05e83016-46ac-5a1d-8405-100c21392124', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["45e885b4153b647f1b255fd9dbdc3eb4"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x90d06089dbde4571fb8461a3fc42f71e239dc2cde30d0ae5214bb1e726e668b8'),
	(0, 96, '98d95047-413b-5eec-abd0-e17ef84778ff', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-16"}', '2026-11-30 12:00:00+00', '\xd10ec2de0f65046d9c7177c797b8c3658109a29a69141b7e0614eb34f1c5742c'),
	(0, 97, 'b42b6241-7936-5a33-bec7-2af0dd3420a1', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-16"}', '2026-11-30 12:00:00+00', '\x21c66ebfdae0c22a5d39b7c166d5786da012e559c97a3cf9268f9e223d30dbfc'),
	(0, 98, 'b42b6241-7936-5a33-bec7-2af0dd3420a1', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-16","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"7437bdc44572465910f1a40cbf2ad017"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x71b17fb6795fc947af9f56240d83708866fdb57ecfe3598800c4d85c29f67ab5'),
	(0, 99, '98d95047-413b-5eec-abd0-e17ef84778ff', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["7437bdc44572465910f1a40cbf2ad017"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x936abaa4c41dfe98db6362ee3d286a441012885e9d9cd5849e5fbcd3c2825022'),
	(0, 100, 'c7140dec-04a3-5ac7-8d38-ae22709dedd6', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-17"}', '2026-11-30 12:00:00+00', '\x6e4b6d46eeb2645d3cea10467fb375aedf0424d03025574f4764015004aec241');
INSERT INTO public.events VALUES
	(0, 101, '5263d3e1-dffb-526b-b026-aabb9b5b8cde', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-17"}', '2026-11-30 12:00:00+00', '\x56b93e4a757940594c43dddeab4680226ca82cd6a10100ecaf771328b951be71'),
	(0, 102, '5263d3e1-dffb-526b-b026-aabb9b5b8cde', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-17","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"46700c33263c88e19594be64c9601fa3"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xb4a0e0b43284fa333750afe4129e4ab0f2b8f47800d86ba2e719c97d2f8bd57e'),
	(0, 103, 'c7140dec-04a3-5ac7-8d38-ae22709dedd6', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["46700c33263c88e19594be64c9601fa3"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x8045a62b3e234cf4f7ef0333fb21154dc9a8d889651d63d7a937ab03f4fb848e'),
	(0, 104, 'ea9906af-ce57-5e78-841f-f174760bb5c8', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-18"}', '2026-11-30 12:00:00+00', '\xbb30cf4d2bca174f9e38bd8b41b92e065d9db5d5b7d4bf56103779c632c64fa2'),
	(0, 105, '1b3ec196-4407-5b06-a9b1-d776f07cc55e', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-18"}', '2026-11-30 12:00:00+00', '\x0d3e1c6ca26ac09483a11bd0ac32be14535766eb618fb3f66bbd639a16be10d4'),
	(0, 106, '1b3ec196-4407-5b06-a9b1-d776f07cc55e', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-18","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"b52f000f7f3d980e899d3ee5e11fd4e6"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\x1c51fc5368fd1d0c05d13f47a71356250275382c51cf3f69bbb1512a6ef1d6fa'),
	(0, 107, 'ea9906af-ce57-5e78-841f-f174760bb5c8', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["b52f000f7f3d980e899d3ee5e11fd4e6"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x401d4e23026956cfadb5182107ed5a6b0d653ebb056afaaebac615a1b8db13c9'),
	(0, 108, '6a271e59-1798-5ec2-bf78-28a6d2cdd981', 1, 'ledger:Customer.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Customer","customer_id":"cus-inv-19"}', '2026-11-30 12:00:00+00', '\xda425848a55714d06955997f0e0bed97678ade3586932516a0ab3ff7d674e5a7'),
	(0, 109, 'e9b6e802-16ac-55f7-90ba-be9effc0411e', 1, 'ledger:Invoice.Created', '{"timestamp":"2026-11-30T12:00:00Z","originator_topic":"ledger:Invoice","invoice_id":"inv-19"}', '2026-11-30 12:00:00+00', '\x824e6325776f0b93a117aab8fb12529d0fd5d242eaf1ded21ef3c4e6b6644736'),
	(0, 110, 'e9b6e802-16ac-55f7-90ba-be9effc0411e', 2, 'ledger:Invoice.Observed', '{"timestamp":"2026-11-30T12:00:00Z","snapshot":{"customer_id":"cus-inv-19","currency":"USD","total":30000,"amount_remaining":30000,"status":"open","observed_at":"2026-11-30T12:00:00Z","issued_on":null,"due_on":"2026-11-26","time_zone":null,"version":null,"includes":[],"address":"d9319758229657e3bf75bb1d7a2e7664"},"standing":{"status":"open","balance":30000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false}}', '2026-11-30 12:00:00+00', '\xaf98bc189600b4732459a660f65c799d84e46c11412f173e20cbf1edec3dc69b'),
	(0, 111, '6a271e59-1798-5ec2-bf78-28a6d2cdd981', 2, 'ledger:Customer.AddressesObserved', '{"timestamp":"2026-11-30T12:00:00Z","fingerprints":["d9319758229657e3bf75bb1d7a2e7664"],"observed_at":"2026-11-30T12:00:00Z"}', '2026-11-30 12:00:00+00', '\x1e9eee80daa0b9665c988669307036d3206db05bab94fbe6206bde519046fe97'),
	(0, 112, '43c5efb7-383f-561b-8fbb-e35c9dcdc2f6', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x624e2f0a19f40585eb492fbcd994303c1e05ed8150e5bcf4406f3ea11ad0ebd3'),
	(0, 113, 'd4dd3045-bd3f-538b-94de-adfe7dec7599', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-00","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-00","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"0f8fc4f0a4f4567c0ae3a430f1673674","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xe48309f47c530bb638a86004024f9ec0b960169252f7060cee1ff6d0d441dc92'),
	(0, 114, 'd4dd3045-bd3f-538b-94de-adfe7dec7599', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\xa5c2d86161dd8951b8aafa153b778952a2221bf2b13ad33ed4c11373d4ebc55c'),
	(0, 115, '43c5efb7-383f-561b-8fbb-e35c9dcdc2f6', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\x6d1be4ab9258f65959e75a532e1b9dd12887ff3b62115e17fa1917d061da6b47'),
	(0, 116, 'c44f5c75-be1c-5deb-989c-3269c4ef9a1e', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x6c2893f2663a70926a69d234c0ea525a7164eff07d88ae7278369ce291a6ca46'),
	(0, 117, '9dd63f01-6bb6-5ffd-857d-496c47dbf7c9', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-01","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-01","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"43072c60b59e8e11d5db3d2a3f8bef6a","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x4ef175f2ccb0a2b88c3f9e7a9f38eda926752cae10455942ec2abb1ce75ebe68'),
	(0, 118, '9dd63f01-6bb6-5ffd-857d-496c47dbf7c9', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x9f6e56c08be4ed136467bb3266eb6487082fa294ce4a8713cbc6e596f23c028c'),
	(0, 119, 'c44f5c75-be1c-5deb-989c-3269c4ef9a1e', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xeed2878085dfa815ccb5598a465dc071229da66adb7053a39c24c526ec7b8d5c'),
	(0, 120, 'e53ada84-98fc-5742-822c-b1d62a91286a', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x3971de6c058b3cd9db6a5801a8ad4c4ddd50a4db1e68d85ce6bb4e4614b607fd'),
	(0, 121, '309f175a-cf0f-5749-8945-c324f1f461c7', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-02","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-02","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"2c9566510c18b44af1d79ba4e9a6045c","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x30a38a67a12dffb94fac204242a45697ca8b8a0a0aa0a71a442f0a1d9c9cb92b'),
	(0, 122, '309f175a-cf0f-5749-8945-c324f1f461c7', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x15f27d2e5d1466b3e151f69953724ace892fb8a3fde1a2de358b7ed6a3448514'),
	(0, 123, 'e53ada84-98fc-5742-822c-b1d62a91286a', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\x3471902bbe2f4072d752d419f8eef79531ddba4ef66002d1a6ae8f1d5f036b9d'),
	(0, 124, '9834cbc9-5222-50d0-b980-3d709226752b', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x6f41d1feb522eaf3106a9cb24981c59b33ca32af89ee1e9e61348861b52c8012'),
	(0, 125, '4c99dc54-7a18-5438-b02f-f133306e532a', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-03","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-03","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"53f80abc36053f614418ac8743e8dd6d","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x2ac2a796455a30c1534c593989ad25cc5f35f272e6433845ad4d47b616f17a8e'),
	(0, 126, '4c99dc54-7a18-5438-b02f-f133306e532a', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\xb80a142cb63cba89e9d9794787325781efa0c16b19d46c848c057eb6fe8b93dd'),
	(0, 127, '9834cbc9-5222-50d0-b980-3d709226752b', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xfd4ba165c1fb760fd30eb4b26d3e816f1ece98320558afaacd9ac0c8dfbd1c05'),
	(0, 128, '5afd2fa8-0fdf-507e-8167-480132fea52d', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\xc9004c94ed6a26685cf78e93b9bdc285b654f2bdbe123963603c8e5a311d7ecd'),
	(0, 129, '6899e72d-5a12-53c8-a903-0afe4ef2fc70', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-04","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-04","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"7d04b80a3796a21e14f58fd371f4054f","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x020c61746525255a7ea195c19d1cfcde92973cc739ca8c399471a68f395515a3'),
	(0, 130, '6899e72d-5a12-53c8-a903-0afe4ef2fc70', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x055ea66cd022f5c6bcc0646374e7b9188fc4734c9e2d67267063c1fa67d77a5b'),
	(0, 131, '5afd2fa8-0fdf-507e-8167-480132fea52d', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\x70dbbd00c8df501bbd6ab4a645e67c96e0db70d40d12a134d098dd55371c450e'),
	(0, 132, 'a5bfb0ae-01f2-5de2-bbfa-1fd35d910263', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x1ca9aff7ed5b43491ed52dd972bcd17a1394b52c586ba70ae290ae16957eedd3'),
	(0, 133, '4f776d70-3948-5e51-a21e-a7ba61c70cbe', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-05","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-05","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"5e2d789e84d831cccbfb9b34255cba17","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xdb13f3a62cc565154871f64a7472eb27b3416d08c8e38e2e1a98772e9e1d068a'),
	(0, 134, '4f776d70-3948-5e51-a21e-a7ba61c70cbe', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\xef021557730851f6f684f571e6a43db86314047542f02205ac5845d4ce9e647e'),
	(0, 135, 'a5bfb0ae-01f2-5de2-bbfa-1fd35d910263', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xc314c9bbf5a1a1450cba6f325f63481ecca7ba7c744b29bdd37b62581d56e010'),
	(0, 136, 'fe3ccfcc-fb59-5d58-b803-18a509f72290', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\xf1131fa4f4531cd8c1ec1660dd2a223e1d9a5b171541e592533dbbbed7ae391d'),
	(0, 137, '83110166-e396-53d1-a536-8e74fbc7f39f', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-06","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-06","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"bc5715365415e6c45151133cd23bdf23","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x96e232917c08f23ebaa52b174cd9af24a35335645b305c7dfbf0fb41c4d41713'),
	(0, 138, '83110166-e396-53d1-a536-8e74fbc7f39f', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x61142606acba3f2b204face43590523094506af4db3b08eb03f96be4336dd930'),
	(0, 139, 'fe3ccfcc-fb59-5d58-b803-18a509f72290', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\x21d8f9858e04c3576f010b9fc878240df9c45f211bae27d45de08e72ce7c8838'),
	(0, 140, '47ad4c0f-d43a-5653-94e3-6878a981c4a4', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x23780f6a0263cd130b066c680f061dbe47c5e5a7f84ca1ca75fe493a22362878'),
	(0, 141, '0f9d4f8f-a3a0-5cb0-80cf-c56f2c99c02f', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-07","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-07","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"3cdbc2a0820511d5cb6e1a07bbb06056","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xfa934146320688fff2146ace3a215e2888a2cab4618d873fe351e8723f0f4f8c'),
	(0, 142, '0f9d4f8f-a3a0-5cb0-80cf-c56f2c99c02f', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x0f8a346f00f10ad92e4da810dc9bbce4e4fa1aa4c192749be26531df3dd58ab1'),
	(0, 143, '47ad4c0f-d43a-5653-94e3-6878a981c4a4', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xb4e7e63b475d88dd4a01e3584f55e5d20fa527b8401c094b21b5f443bc0fd10a'),
	(0, 144, '03ac2150-4b59-5b8e-b77e-3c4634ff7742', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x813597821c21765d12c4707bb0cba26d4894909afb1393c656a89fb60ca8185f'),
	(0, 145, '9e4f5bf2-37d1-5b01-9105-c9979f219d60', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-08","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-08","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"03a202529a6d0c094e59cca941247bb1","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xfa36d3c951d69095fa7aac4c97657174fc8484ad4ad552f2531f689ba30ed1e9'),
	(0, 146, '9e4f5bf2-37d1-5b01-9105-c9979f219d60', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x0c2b51049f864048624cf448c6eda8d0bf57bc270903e6ed3d2c2f2ac8141f5e'),
	(0, 147, '03ac2150-4b59-5b8e-b77e-3c4634ff7742', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xafda50d9405a5f49548d101943aa83d6e76ed55dc67c90cca4aeb411980203fb'),
	(0, 148, '8d9aa012-9ed6-517a-b589-b7ae79647371', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x80ac8cb3ebacf9a6e2eb7d33a64642e3e4e4ac0ec24367dcb59aaf0571ce144b'),
	(0, 149, '66850485-916a-513c-863d-bcf2f6b13f4f', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-09","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-09","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"0b20e1500c0e0b87b42811af90e63664","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xa1545e81247f65dc51f0ca690cd58d77c9546d779e45dcfb33671533eb8d69ac'),
	(0, 150, '66850485-916a-513c-863d-bcf2f6b13f4f', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x9f7ade82bda5fa2abab4ac6b26346e4a89d58395e60ee779c6b3ed72d3d27357'),
	(0, 151, '8d9aa012-9ed6-517a-b589-b7ae79647371', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xd34b9f6e49744fdcbcdcb71d9f2a7bd468d7a5ed576a929b5384cf82ad00ed87'),
	(0, 152, '00cd70ec-0dd3-5f46-b79b-cf7d0c7aec94', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\xe4092361a9f195237f527d17659a9d5e1c62c9e06bd357535efade96f9320e92'),
	(0, 153, '5829c2d9-527b-5f4f-94a7-05110763876d', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-10","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-10","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"40ad93b3246836cc0df39bc730aadf45","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x5ff2ca8172eaa7978a1474fb251973d27f32eebe3bfa149c6c7516b2616211e3'),
	(0, 154, '5829c2d9-527b-5f4f-94a7-05110763876d', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\xdf9aae165f74f501334bf08e25e4098f367d3793fc4e50c0ee0c26914ab0fc0c'),
	(0, 155, '00cd70ec-0dd3-5f46-b79b-cf7d0c7aec94', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\x46c001ff836b5afd4e8ca816b023d1d80485d8d47073a8b15bb08b5c7ec4ec69'),
	(0, 156, 'a1961c5e-f04c-5e5d-94f3-8d3e8c50315c', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x4f0ce21d8d1202b798568bb92be630daed05369366c1f464528572996837dca4'),
	(0, 157, 'f2ba6e03-cd59-5ee3-9302-64b4536ed671', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-11","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-11","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"97b14748e139fb5f6dcec2eccd66197b","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xe9b6af3f4510540c63eda6733937d824cec119f8077b3b500f10fa19fbef7852'),
	(0, 158, 'f2ba6e03-cd59-5ee3-9302-64b4536ed671', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","state":"sent","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x204dbcc6aa70ed100a5a5dafcf1c829d32e8d00f3457ff4c2f90c564efd20535'),
	(0, 159, 'a1961c5e-f04c-5e5d-94f3-8d3e8c50315c', 4, 'ledger:Invoice.ReminderSent', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"sent_at":"2026-11-30T12:00:00Z","provider_message_id":null}', '2026-11-30 12:00:00+00', '\xf0def41ee872f80acf54ef495f0f326f04937f4ad33b088a0f4b06a68e0239a0'),
	(0, 160, 'f9dcb9d0-7303-5931-bb0a-874bab8056c0', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"73a0ad91-8c9f-4b09-9dce-5976d980bfef","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x3bd92078f967e63a1f6882be5edd263eaab150de54c63904bcf572a10fef4d30'),
	(0, 161, '2b0ad429-3519-5b79-b5c8-91bb7636ce8b', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"73a0ad91-8c9f-4b09-9dce-5976d980bfef","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-12","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-12","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"7b3cdca43dbfd950b1e08881f031a7b9","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":"9ac6c772f914ce9af05b941a08d527d32388118154cf6f961e071dce5aabd401","rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x40bc768f2a4b1682db22562132a2fd56f427db66ca281fd01ce9343d76cf1a68'),
	(0, 162, '5a3e1e47-e916-5bda-b466-9e13b008ccac', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"228978dc-0c39-404a-b72a-62f27da16936","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x798a6550e32689a63e2c5a15168d34070126c6b703fe6b1b627c7a953ca62474'),
	(0, 163, '9b183759-a0e3-5685-86a2-e801485a8c04', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"228978dc-0c39-404a-b72a-62f27da16936","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-13","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-13","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"348b0ab40937a9f1426ee571d8dc49a4","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\x058040594659644e5864eca74123284b8df0180a126c571c458e733541a5bf4b'),
	(0, 164, '9b183759-a0e3-5685-86a2-e801485a8c04', 4, 'ledger:Customer.MailRedeemed', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"228978dc-0c39-404a-b72a-62f27da16936","attempt":"attempt-1"}', '2026-11-30 12:00:00+00', '\x1f0ea5831938f423b63e8f038846ef548f2984d1ae197fffeff0e6521a65bb9b'),
	(0, 165, '5eae15c1-366a-5ae4-ae68-17f896d0d454', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x0c624c3947753fd0019a75905dca52b1b2d6db7a0263e9c6cce579d6a4a4dce3'),
	(0, 166, '0ebb3b68-e4a1-5ddc-8be1-7b7dea077b42', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-14","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-14","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"63f6d91a033777510f15d1df54cb0dbf","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xb2f7f30659edd0f34e47961e61db34d0f4ad6185db4247420f725ad5d99a3588'),
	(0, 167, '0ebb3b68-e4a1-5ddc-8be1-7b7dea077b42', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","state":"unknown","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\x45f7782f946d07a06e0cab20d8c0db2e17f181a67cec1e56c4bd8baa91958200'),
	(0, 168, '5eae15c1-366a-5ae4-ae68-17f896d0d454', 4, 'ledger:Invoice.ReminderOutcomeUnknown', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","cycle":1,"stage":"day-3"}', '2026-11-30 12:00:00+00', '\x8a7090e70b10fefab4fb80fb21d3cd162aa04cfcf050f2045945424c47adda3f'),
	(0, 169, '1e08a4f3-2801-508c-92b0-969c0dbfdf3b', 3, 'ledger:Invoice.ReminderPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","sender":"first","cycle":1,"stage":"day-3","supersedes":[],"crossed":{"day-3":"2026-11-29"}}', '2026-11-30 12:00:00+00', '\x73b22513536509a77d8e486b8e28e1d2e263dd135eb9387e5fb64f58b10e1f1a'),
	(0, 170, '05e83016-46ac-5a1d-8405-100c21392124', 3, 'ledger:Customer.MailPermitted', '{"timestamp":"2026-11-30T12:00:00Z","permit":{"permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-15","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-15","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"45e885b4153b647f1b255fd9dbdc3eb4","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}}', '2026-11-30 12:00:00+00', '\xe273b1098c166c14ce92029021da0e09091829f79a563731ad7c33c40563b4c6'),
	(0, 171, '05e83016-46ac-5a1d-8405-100c21392124', 4, 'ledger:Customer.MailSettled', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","state":"rejected","reason":"reported by first","provider_message_id":null,"message_id":null}', '2026-11-30 12:00:00+00', '\xa01686cab8a22965c5f34135dd3cd34ae079c1a0f91c03d557f79e79c664587b'),
	(0, 172, '1e08a4f3-2801-508c-92b0-969c0dbfdf3b', 4, 'ledger:Invoice.ReminderFreed', '{"timestamp":"2026-11-30T12:00:00Z","permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","cycle":1,"stage":"day-3","state":"rejected","rejections":1}', '2026-11-30 12:00:00+00', '\x2078550c39d30cb194dc83c054b468f40577f9683123491c2df207cd7c422ff6'),
	(0, 173, 'e9b6e802-16ac-55f7-90ba-be9effc0411e', 3, 'ledger:Invoice.MoneyMoved', '{"timestamp":"2026-11-30T12:00:00Z","fact":{"name":"pay-1","state":"succeeded","amount":10000,"at":"2026-11-30T12:00:00Z"},"standing":{"status":"open","balance":20000,"cycle":1,"starts_on":"2026-11-26","reopened_on":null,"run_ended":false},"in_flight_until":null}', '2026-11-30 12:00:00+00', '\x92846f55f35a1a734b8ecdac28b30bdfaaa20307f953cf88b45856c9fba9c567');


--
-- Data for Name: idempotency; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.idempotency VALUES
	(0, '\x9ac6c772f914ce9af05b941a08d527d32388118154cf6f961e071dce5aabd401', '\x6579290db7f90a8144e1679a4a5dc0a0420fd934058aae8d5e24c5aa60fe16bd', '73a0ad91-8c9f-4b09-9dce-5976d980bfef', NULL, NULL, '2026-11-30 12:00:00+00');


--
-- Data for Name: invoice_owners; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.invoice_owners VALUES
	(0, 'cus-inv-00', 'inv-00'),
	(0, 'cus-inv-01', 'inv-01'),
	(0, 'cus-inv-02', 'inv-02'),
	(0, 'cus-inv-03', 'inv-03'),
	(0, 'cus-inv-04', 'inv-04'),
	(0, 'cus-inv-05', 'inv-05'),
	(0, 'cus-inv-06', 'inv-06'),
	(0, 'cus-inv-07', 'inv-07'),
	(0, 'cus-inv-08', 'inv-08'),
	(0, 'cus-inv-09', 'inv-09'),
	(0, 'cus-inv-10', 'inv-10'),
	(0, 'cus-inv-11', 'inv-11'),
	(0, 'cus-inv-12', 'inv-12'),
	(0, 'cus-inv-13', 'inv-13'),
	(0, 'cus-inv-14', 'inv-14'),
	(0, 'cus-inv-15', 'inv-15'),
	(0, 'cus-inv-16', 'inv-16'),
	(0, 'cus-inv-17', 'inv-17'),
	(0, 'cus-inv-18', 'inv-18'),
	(0, 'cus-inv-19', 'inv-19');


--
-- Data for Name: keys; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.keys VALUES
	(0, 'key_first', 'first', '\x9421dec2a6c9940e530a7a9ec58621c8fe7a3431902b1c00634b6e2eccd8fd1a', '{send,facts,operate,audit,admin}', false, NULL, false, '2026-12-01 10:11:14.15812+00', NULL);


--
-- Data for Name: migrations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.migrations VALUES
	(1, '0001_log.sql', '5217d0bbe93a2336ce898fb9801611da33affa6601d04f17b3338c1a21fd195f', '2026-12-01 10:11:14.098252+00'),
	(2, '0002_writer.sql', '4b5206a575964c74e2f08824aed8fde0f49a6709083b8d67ed9e10479dc45c0b', '2026-12-01 10:11:14.101894+00'),
	(3, '0003_alerts.sql', '91bc60fea09d999b2e07bb99220a97053218508f534747a1957e1d0393855139', '2026-12-01 10:11:14.121779+00'),
	(4, '0004_webhooks.sql', 'a0593af404960947a2506a436d4a1fd133b50b083ae757e1377cac48c426e6e0', '2026-12-01 10:11:14.13568+00'),
	(5, '0005_looking_back.sql', 'e15ee61d1ab4b6e21e9ead1e1dc9a33e4fedaa55d3f087a2e440741f1058bc45', '2026-12-01 10:11:14.145079+00');


--
-- Data for Name: names; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.names VALUES
	(0, 'address', '\x63827d61b52be766bae21f6c1804d455dfa7ee68ddac09579ad3bc319e88e3dc', 'cus-pat'),
	(0, 'message', '\x5fb83154e60c209eab7e36452aaccc078977786101eedd487be5851f1a7f38d8', 'thr-1'),
	(0, 'fact', '\xa3647b34bd149beebb8197c180bfe7aeb2ac1f66ba0d8fb3cecc1faa8edb7f70', 'applied'),
	(0, 'address', '\x62e47074e389cd588b165ab681e72e68b4ac13d253623a45e60aa2e10c678edd', 'cus-ann'),
	(0, 'send', '\x861073033d6e104d801bbebbbde4c98031e260353501230331970044dab11cde', '1c807432-2294-43c7-bb9a-7a065ff62866'),
	(0, 'send', '\x5abf59a283f3f10b580c6c1d88496343333d9f73dae5a645f54abc7f230e7e2b', '519e6aed-bdca-4f85-91b8-672e2a6390a1'),
	(0, 'send', '\x0eb36df6b9377084530b26bdebbd1670d357bc2264b81b08b254dc410980ae66', 'cc4b59b4-6561-4dcc-990b-4f82858a76a1'),
	(0, 'send', '\x979ba88365a056ff234481d8cb3af60c3e7d86e1aab8ec3b2515b912bdec538a', '068be712-1d63-4e1d-91d4-12d2d329fe64'),
	(0, 'fact', '\xd28112d513a24c95c6094189164eeef2c23ba7d3abda8a562b465740be58a493', 'applied'),
	(0, 'fact', '\xd7421cbb4ca1d11dea22cff7033d420f57c045e996720efc20e239658b0c1ca9', 'applied'),
	(0, 'address', '\xc0b46b6a947d4aa279d4004966de4b310c4c0948f33419558a7c71d70f2b0670', 'cus-inv-00'),
	(0, 'address', '\xc21246342b65242cc34d77d41649b2ae4a99fc67d9f20203f2e98f702fcc4383', 'cus-inv-01'),
	(0, 'address', '\x9fd60c2c4ecb1b6e7ebede001db39f1a851d33d385f9ac142c3444da650e5c13', 'cus-inv-02'),
	(0, 'address', '\x7abadba92aaa97ee9db9a3b6384dbe4f4782d8ded3a0f67721c5111814da3720', 'cus-inv-03'),
	(0, 'address', '\x829de5c6af5037dabb58b330c754b30c96070ae42c1a9093b565156a276608a8', 'cus-inv-04'),
	(0, 'address', '\x2897ac7110c64473e5d1694d88802414b8d982bdb421b1539ada83efd0657fac', 'cus-inv-05'),
	(0, 'address', '\xf994b03e3cdcaabbf287e7986cffa2ded15c1d3693ff4c4d9537e28770310ca1', 'cus-inv-06'),
	(0, 'address', '\x8d82da1ef597ac4ea8535875dfc48cf68029e12c4e75a7dbf10a4b3baf01e0a1', 'cus-inv-07'),
	(0, 'address', '\x1c09d7d0ff560f2a5a8827efc66f93838150beff2e3ae41f75a6d1a2962e7493', 'cus-inv-08'),
	(0, 'address', '\x385d21e8f79c8784fea984e916278da62ace7b73c75d4b6fb6442d7a78ade088', 'cus-inv-09'),
	(0, 'address', '\x2c134e78a9b6a513e1f6814d9346b253f330d7bb272a084d4e66bffb89763a61', 'cus-inv-10'),
	(0, 'address', '\x6ec159785c9f768a40e79b477fd91b3443f941250395ab4e9a5c67736736d5ac', 'cus-inv-11'),
	(0, 'address', '\xa4c6455ac5fcc9b29010e91f2bde1399f1e4233d8ba35474f8c949a8ab149e06', 'cus-inv-12'),
	(0, 'address', '\x2d989bd2e6ee5003378449814189b45b01abd3980a6ccd823f936f51fba7737f', 'cus-inv-13'),
	(0, 'address', '\x5d37feb1136739176692860348127132a22148f99cc71c73d779388e2350e384', 'cus-inv-14'),
	(0, 'address', '\xaf2601f6a6637eb109a069103665e3ab854be8c7e698bf7c7adcacc1716787ff', 'cus-inv-15'),
	(0, 'address', '\x9dbe12d81579c64aebcc03a11e2d008fd76e6995aab27c199c4fb2c79f79e917', 'cus-inv-16'),
	(0, 'address', '\x44631c02e1aad5d585a5baef68773cbd89a845bc99c8a7d4d8151a01db4ac8a8', 'cus-inv-17'),
	(0, 'address', '\x9a9944fde44fd67e795839d1a109abe421ed0415cb27b159f1c36798e150e7ad', 'cus-inv-18'),
	(0, 'address', '\x7f460a77c115158d4fbc4c3af7fffde497c4c92e4db4a96258d090f7277e0c17', 'cus-inv-19'),
	(0, 'fact', '\xe88ea2ad7eaf02a5489a112044b2f1732985a8c70f09504660dd4b7ea424e178', 'applied');


--
-- Data for Name: page_deliveries; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: pages; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: partitions; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.partitions VALUES
	(0);


--
-- Data for Name: permits; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.permits VALUES
	(0, '170ce809-b12f-4830-ae78-8f24e4b4d264', 'sent', 'cus-pat', '2026-11-29 09:10:00+00', '{"permit_id":"170ce809-b12f-4830-ae78-8f24e4b4d264","kind":"reply","lane":"reply","state":"sent","customer_id":"cus-pat","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":"thr-1","invoice_id":null,"incident_id":null,"slots":["reply:<question@example.com>"],"named":null,"address":"50fc64e148b053ccb346be10bfc7a9af","redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, '97f157db-cdab-4c3c-804d-aa9e0d81e74f', 'sent', 'cus-pat', '2026-11-29 09:10:00+00', '{"permit_id":"97f157db-cdab-4c3c-804d-aa9e0d81e74f","kind":"message","lane":"outreach","state":"sent","customer_id":"cus-pat","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":"thr-1","invoice_id":null,"incident_id":null,"slots":["intent:refund_notice"],"named":null,"address":"50fc64e148b053ccb346be10bfc7a9af","redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, '1c807432-2294-43c7-bb9a-7a065ff62866', 'sent', 'cus-ann', '2026-11-29 09:10:00+00', '{"permit_id":"1c807432-2294-43c7-bb9a-7a065ff62866","kind":"notification","lane":"outreach","state":"sent","customer_id":"cus-ann","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"43e0b7b69a5ce110c6c3348430b055d9cababa0535dd711a8967ae84ffdb6f02","address":"42e8ad55d42b8c26a13bac2693d7e5c0","redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, '519e6aed-bdca-4f85-91b8-672e2a6390a1', 'sent', 'cus-ann', '2026-11-29 09:10:00+00', '{"permit_id":"519e6aed-bdca-4f85-91b8-672e2a6390a1","kind":"digest","lane":"outreach","state":"sent","customer_id":"cus-ann","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"46d528d2f1587f878e9f02222c92e8c58828764c24316a41bef0e1d41d15c30f","address":"42e8ad55d42b8c26a13bac2693d7e5c0","redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'cc4b59b4-6561-4dcc-990b-4f82858a76a1', 'sent', 'cus-flooded', '2026-11-29 09:10:00+00', '{"permit_id":"cc4b59b4-6561-4dcc-990b-4f82858a76a1","kind":"notification","lane":"outreach","state":"sent","customer_id":"cus-flooded","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"58758a8f630e279588d024e0f5ccd836ccff798d4696c578ee18f89da5f608b2","address":null,"redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, '068be712-1d63-4e1d-91d4-12d2d329fe64', 'sent', 'cus-flooded', '2026-11-29 09:10:00+00', '{"permit_id":"068be712-1d63-4e1d-91d4-12d2d329fe64","kind":"notification","lane":"outreach","state":"sent","customer_id":"cus-flooded","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-29T09:00:00Z","send_by":"2026-11-29T09:10:00Z","items":[],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":"8c03bae1a0e366e8dba4b9501e3355bec155d0323db40b3eb34152873fc3d20c","address":null,"redeemed_at":null,"attempt":null,"settled_at":"2026-11-29T09:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":1,"idempotency":null,"rejections":0,"action":null}'),
	(0, '4d1cad73-b5a2-4945-bfc0-3e21c49b2f81', 'sent', 'cus-inv-00', '2026-11-30 12:10:00+00', '{"permit_id":"4d1cad73-b5a2-4945-bfc0-3e21c49b2f81","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-00","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-00","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"0f8fc4f0a4f4567c0ae3a430f1673674","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '2ff01230-ad71-437d-b7e4-7f8187d7b35b', 'sent', 'cus-inv-01', '2026-11-30 12:10:00+00', '{"permit_id":"2ff01230-ad71-437d-b7e4-7f8187d7b35b","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-01","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-01","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"43072c60b59e8e11d5db3d2a3f8bef6a","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'be9c1589-cb99-4be6-846b-eb5f72033d66', 'sent', 'cus-inv-02', '2026-11-30 12:10:00+00', '{"permit_id":"be9c1589-cb99-4be6-846b-eb5f72033d66","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-02","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-02","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"2c9566510c18b44af1d79ba4e9a6045c","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'ed562a7c-9186-4aaf-840c-26c00e2e34bd', 'sent', 'cus-inv-03', '2026-11-30 12:10:00+00', '{"permit_id":"ed562a7c-9186-4aaf-840c-26c00e2e34bd","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-03","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-03","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"53f80abc36053f614418ac8743e8dd6d","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '5c0e9731-94d2-4804-a2de-80d4e4224b96', 'sent', 'cus-inv-04', '2026-11-30 12:10:00+00', '{"permit_id":"5c0e9731-94d2-4804-a2de-80d4e4224b96","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-04","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-04","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"7d04b80a3796a21e14f58fd371f4054f","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'fe093c7b-5e07-4c91-bffe-04761c286b7b', 'sent', 'cus-inv-05', '2026-11-30 12:10:00+00', '{"permit_id":"fe093c7b-5e07-4c91-bffe-04761c286b7b","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-05","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-05","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"5e2d789e84d831cccbfb9b34255cba17","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '1f035d8f-97c5-43b4-b7e7-e28ae60af636', 'sent', 'cus-inv-06', '2026-11-30 12:10:00+00', '{"permit_id":"1f035d8f-97c5-43b4-b7e7-e28ae60af636","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-06","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-06","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"bc5715365415e6c45151133cd23bdf23","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed', 'sent', 'cus-inv-07', '2026-11-30 12:10:00+00', '{"permit_id":"6efd0a71-b710-4cf1-bbf4-7b5f2ac262ed","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-07","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-07","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"3cdbc2a0820511d5cb6e1a07bbb06056","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'b0cba5c4-5b34-4156-b712-f21dea8ca03d', 'sent', 'cus-inv-08', '2026-11-30 12:10:00+00', '{"permit_id":"b0cba5c4-5b34-4156-b712-f21dea8ca03d","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-08","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-08","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"03a202529a6d0c094e59cca941247bb1","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '49bac78c-4b83-4a6d-9150-a9b3108af781', 'sent', 'cus-inv-09', '2026-11-30 12:10:00+00', '{"permit_id":"49bac78c-4b83-4a6d-9150-a9b3108af781","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-09","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-09","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"0b20e1500c0e0b87b42811af90e63664","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '2ef76324-8b03-4a70-bfc9-84cfd58b1191', 'sent', 'cus-inv-10', '2026-11-30 12:10:00+00', '{"permit_id":"2ef76324-8b03-4a70-bfc9-84cfd58b1191","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-10","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-10","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"40ad93b3246836cc0df39bc730aadf45","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '38dc6915-78f8-47c0-8ca2-c1a7338f544f', 'sent', 'cus-inv-11', '2026-11-30 12:10:00+00', '{"permit_id":"38dc6915-78f8-47c0-8ca2-c1a7338f544f","kind":"reminder","lane":"outreach","state":"sent","customer_id":"cus-inv-11","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-11","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"97b14748e139fb5f6dcec2eccd66197b","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '73a0ad91-8c9f-4b09-9dce-5976d980bfef', 'granted', 'cus-inv-12', '2026-11-30 12:10:00+00', '{"permit_id":"73a0ad91-8c9f-4b09-9dce-5976d980bfef","kind":"reminder","lane":"outreach","state":"granted","customer_id":"cus-inv-12","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-12","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"7b3cdca43dbfd950b1e08881f031a7b9","redeemed_at":null,"attempt":null,"settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":"9ac6c772f914ce9af05b941a08d527d32388118154cf6f961e071dce5aabd401","rejections":0,"action":null}'),
	(0, '228978dc-0c39-404a-b72a-62f27da16936', 'redeemed', 'cus-inv-13', '2026-11-30 12:10:00+00', '{"permit_id":"228978dc-0c39-404a-b72a-62f27da16936","kind":"reminder","lane":"outreach","state":"redeemed","customer_id":"cus-inv-13","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-13","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"348b0ab40937a9f1426ee571d8dc49a4","redeemed_at":"2026-11-30T12:00:00Z","attempt":"attempt-1","settled_at":null,"provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, '9b36a382-bc49-48d4-b39f-5557cbf0adb8', 'unknown', 'cus-inv-14', '2026-11-30 12:10:00+00', '{"permit_id":"9b36a382-bc49-48d4-b39f-5557cbf0adb8","kind":"reminder","lane":"outreach","state":"unknown","customer_id":"cus-inv-14","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-14","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"63f6d91a033777510f15d1df54cb0dbf","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":0,"action":null}'),
	(0, 'c6cc94f7-92d3-4d02-bf67-33313777bad4', 'rejected', 'cus-inv-15', '2026-11-30 12:10:00+00', '{"permit_id":"c6cc94f7-92d3-4d02-bf67-33313777bad4","kind":"reminder","lane":"outreach","state":"rejected","customer_id":"cus-inv-15","key_id":"key_first","sender":"first","redeem_required":false,"granted_at":"2026-11-30T12:00:00Z","send_by":"2026-11-30T12:10:00Z","items":[{"invoice_id":"inv-15","cycle":1,"stage":"day-3","supersedes":[],"amount_remaining":30000,"currency":"USD","counts_from":"2026-11-26"}],"thread_id":null,"invoice_id":null,"incident_id":null,"slots":[],"named":null,"address":"45e885b4153b647f1b255fd9dbdc3eb4","redeemed_at":null,"attempt":null,"settled_at":"2026-11-30T12:00:00Z","provider_message_id":null,"message_id":null,"overtaken":null,"control_version":2,"idempotency":null,"rejections":1,"action":null}');


--
-- Data for Name: policies; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.policies VALUES
	(0, '2d5c6e24171b6657', '{"adopt_before":null,"age_from_issue_without_due_date":false,"alert_escalation_minutes":30,"alert_summary_minutes":5,"apology_days":30,"catch_up":"highest","days_between_reminders":3,"idempotency_days":30,"locale":"en_US","message_id_domain":"send-ledger.invalid","outreach_per_day":2,"payment_in_flight_days":7,"permit_minutes":10,"rejected_body_days":30,"rejections_before_hold":3,"replies_per_customer_day":30,"replies_per_customer_hour":5,"replies_per_thread_hour":5,"smallest_amount_to_dun":{},"stages":[{"days":3,"floor_percent":0,"name":"day-3"},{"days":7,"floor_percent":10,"name":"day-7"},{"days":14,"floor_percent":25,"name":"day-14"}],"time_zone":"UTC","transactional_per_day":20,"unknown_alert_minutes":60}', '2026-12-01 10:11:17.380293+00');


--
-- Data for Name: projection_generations; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.projection_generations VALUES
	(0, 'customers', 1, 1, '', 'live', 79, NULL, NULL),
	(0, 'invoices', 1, 1, '14721532b332247f', 'live', 83, NULL, NULL),
	(0, 'incidents', 1, 1, '', 'live', 87, NULL, NULL);


--
-- Data for Name: projections; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.projections VALUES
	(0, 'customers', 1),
	(0, 'invoices', 1),
	(0, 'incidents', 1);


--
-- Data for Name: refresh_work; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: rejected_bodies; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: rejected_kinds; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Data for Name: settings; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.settings VALUES
	(0, 'epoch', '6e06d5e8-6649-4690-babc-a144a42cd7e0'),
	(0, 'keys_version', '1'),
	(0, 'secret_check', '14c17830a2a48536361adc4ce924240c5cfc53df65c74c6f17ad3c0322b59b79');


--
-- Data for Name: snapshots; Type: TABLE DATA; Schema: public; Owner: -
--



--
-- Name: alerts_alert_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.alerts_alert_id_seq', 1, true);


--
-- Name: pages_page_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.pages_page_id_seq', 1, false);


--
-- Name: refresh_work_refresh_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.refresh_work_refresh_id_seq', 1, false);


--
-- Name: rejected_bodies_rejected_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.rejected_bodies_rejected_id_seq', 1, false);


--
-- Name: customers customers_customer_id_key; Type: CONSTRAINT; Schema: projection_customers_1; Owner: -
--

ALTER TABLE ONLY projection_customers_1.customers
    ADD CONSTRAINT customers_customer_id_key UNIQUE (customer_id);


--
-- Name: customers customers_pkey; Type: CONSTRAINT; Schema: projection_customers_1; Owner: -
--

ALTER TABLE ONLY projection_customers_1.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (originator_id);


--
-- Name: mails mails_pkey; Type: CONSTRAINT; Schema: projection_customers_1; Owner: -
--

ALTER TABLE ONLY projection_customers_1.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (permit_id);


--
-- Name: merged merged_pkey; Type: CONSTRAINT; Schema: projection_customers_1; Owner: -
--

ALTER TABLE ONLY projection_customers_1.merged
    ADD CONSTRAINT merged_pkey PRIMARY KEY (customer_id);


--
-- Name: incidents incidents_incident_id_key; Type: CONSTRAINT; Schema: projection_incidents_1; Owner: -
--

ALTER TABLE ONLY projection_incidents_1.incidents
    ADD CONSTRAINT incidents_incident_id_key UNIQUE (incident_id);


--
-- Name: incidents incidents_pkey; Type: CONSTRAINT; Schema: projection_incidents_1; Owner: -
--

ALTER TABLE ONLY projection_incidents_1.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (originator_id);


--
-- Name: incidents incidents_position_key; Type: CONSTRAINT; Schema: projection_incidents_1; Owner: -
--

ALTER TABLE ONLY projection_incidents_1.incidents
    ADD CONSTRAINT incidents_position_key UNIQUE ("position");


--
-- Name: merged merged_pkey; Type: CONSTRAINT; Schema: projection_incidents_1; Owner: -
--

ALTER TABLE ONLY projection_incidents_1.merged
    ADD CONSTRAINT merged_pkey PRIMARY KEY (customer_id);


--
-- Name: invoices invoices_pkey; Type: CONSTRAINT; Schema: projection_invoices_1; Owner: -
--

ALTER TABLE ONLY projection_invoices_1.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (originator_id);


--
-- Name: merged merged_pkey; Type: CONSTRAINT; Schema: projection_invoices_1; Owner: -
--

ALTER TABLE ONLY projection_invoices_1.merged
    ADD CONSTRAINT merged_pkey PRIMARY KEY (customer_id);


--
-- Name: policy policy_pkey; Type: CONSTRAINT; Schema: projection_invoices_1; Owner: -
--

ALTER TABLE ONLY projection_invoices_1.policy
    ADD CONSTRAINT policy_pkey PRIMARY KEY (one_row);


--
-- Name: alerts alerts_partition_dedupe_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_partition_dedupe_key_key UNIQUE (partition, dedupe_key);


--
-- Name: alerts alerts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (partition, alert_id);


--
-- Name: clock clock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_pkey PRIMARY KEY (partition);


--
-- Name: contacts contacts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (partition, fingerprint, customer_id);


--
-- Name: decisions decisions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT decisions_pkey PRIMARY KEY (partition, decision_id, decided_at);


--
-- Name: decisions_2026_11 decisions_2026_11_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.decisions_2026_11
    ADD CONSTRAINT decisions_2026_11_pkey PRIMARY KEY (partition, decision_id, decided_at);


--
-- Name: events events_partition_originator_id_originator_version_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_partition_originator_id_originator_version_key UNIQUE (partition, originator_id, originator_version);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (partition, "position");


--
-- Name: idempotency idempotency_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (partition, scope);


--
-- Name: invoice_owners invoice_owners_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.invoice_owners
    ADD CONSTRAINT invoice_owners_pkey PRIMARY KEY (partition, customer_id, invoice_id);


--
-- Name: keys keys_partition_hash_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_partition_hash_key UNIQUE (partition, hash);


--
-- Name: keys keys_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (partition, key_id);


--
-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);


--
-- Name: names names_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.names
    ADD CONSTRAINT names_pkey PRIMARY KEY (partition, kind, name_hash);


--
-- Name: page_deliveries page_deliveries_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.page_deliveries
    ADD CONSTRAINT page_deliveries_pkey PRIMARY KEY (partition, page_id, target);


--
-- Name: pages pages_partition_reason_dedupe_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_partition_reason_dedupe_key_key UNIQUE (partition, reason, dedupe_key);


--
-- Name: pages pages_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (partition, page_id);


--
-- Name: partitions partitions_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.partitions
    ADD CONSTRAINT partitions_pkey PRIMARY KEY (partition);


--
-- Name: permits permits_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.permits
    ADD CONSTRAINT permits_pkey PRIMARY KEY (partition, permit_id);


--
-- Name: policies policies_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (partition, version);


--
-- Name: projection_generations projection_generations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projection_generations
    ADD CONSTRAINT projection_generations_pkey PRIMARY KEY (partition, name, generation);


--
-- Name: projections projections_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projections
    ADD CONSTRAINT projections_pkey PRIMARY KEY (partition, name);


--
-- Name: refresh_work refresh_work_partition_provider_object_kind_object_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refresh_work
    ADD CONSTRAINT refresh_work_partition_provider_object_kind_object_id_key UNIQUE (partition, provider, object_kind, object_id);


--
-- Name: refresh_work refresh_work_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.refresh_work
    ADD CONSTRAINT refresh_work_pkey PRIMARY KEY (partition, refresh_id);


--
-- Name: rejected_bodies rejected_bodies_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejected_bodies
    ADD CONSTRAINT rejected_bodies_pkey PRIMARY KEY (partition, rejected_id);


--
-- Name: rejected_kinds rejected_kinds_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rejected_kinds
    ADD CONSTRAINT rejected_kinds_pkey PRIMARY KEY (partition, provider, kind);


--
-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (partition, name);


--
-- Name: snapshots snapshots_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (partition, originator_id);


--
-- Name: customers_with_open_breaker; Type: INDEX; Schema: projection_customers_1; Owner: -
--

CREATE INDEX customers_with_open_breaker ON projection_customers_1.customers USING btree (customer_id) WHERE ((breaker_scope IS NOT NULL) AND (merged_into IS NULL));


--
-- Name: mails_by_owner; Type: INDEX; Schema: projection_customers_1; Owner: -
--

CREATE INDEX mails_by_owner ON projection_customers_1.mails USING btree (owner_id, send_by);


--
-- Name: mails_by_time; Type: INDEX; Schema: projection_customers_1; Owner: -
--

CREATE INDEX mails_by_time ON projection_customers_1.mails USING btree (granted_at);


--
-- Name: merged_by_owner; Type: INDEX; Schema: projection_customers_1; Owner: -
--

CREATE INDEX merged_by_owner ON projection_customers_1.merged USING btree (owner_id);


--
-- Name: merged_by_position; Type: INDEX; Schema: projection_customers_1; Owner: -
--

CREATE INDEX merged_by_position ON projection_customers_1.merged USING btree ("position");


--
-- Name: merged_by_owner; Type: INDEX; Schema: projection_incidents_1; Owner: -
--

CREATE INDEX merged_by_owner ON projection_incidents_1.merged USING btree (owner_id);


--
-- Name: merged_by_position; Type: INDEX; Schema: projection_incidents_1; Owner: -
--

CREATE INDEX merged_by_position ON projection_incidents_1.merged USING btree ("position");


--
-- Name: invoices_by_debtor; Type: INDEX; Schema: projection_invoices_1; Owner: -
--

CREATE INDEX invoices_by_debtor ON projection_invoices_1.invoices USING btree (debtor_id, due_at) WHERE (debtor_id IS NOT NULL);


--
-- Name: invoices_due; Type: INDEX; Schema: projection_invoices_1; Owner: -
--

CREATE INDEX invoices_due ON projection_invoices_1.invoices USING btree (due_at, debtor_id) WHERE (due_at IS NOT NULL);


--
-- Name: invoices_of_probes; Type: INDEX; Schema: projection_invoices_1; Owner: -
--

CREATE INDEX invoices_of_probes ON projection_invoices_1.invoices USING btree (originator_id) WHERE starts_with(customer_id, 'ledger-probe-'::text);


--
-- Name: merged_by_owner; Type: INDEX; Schema: projection_invoices_1; Owner: -
--

CREATE INDEX merged_by_owner ON projection_invoices_1.merged USING btree (owner_id);


--
-- Name: merged_by_position; Type: INDEX; Schema: projection_invoices_1; Owner: -
--

CREATE INDEX merged_by_position ON projection_invoices_1.merged USING btree ("position");


--
-- Name: alerts_by_customer; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_by_customer ON public.alerts USING btree (partition, customer_id, "position");


--
-- Name: alerts_by_escalation; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_by_escalation ON public.alerts USING btree (partition, escalation_id) WHERE (escalation_id IS NOT NULL);


--
-- Name: alerts_by_page; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_by_page ON public.alerts USING btree (partition, page_id);


--
-- Name: alerts_drills; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_drills ON public.alerts USING btree (partition, customer_id) WHERE drill;


--
-- Name: alerts_unanswered; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_unanswered ON public.alerts USING btree (partition, delivered_at) WHERE ((acked_at IS NULL) AND (escalation_id IS NULL) AND (NOT drill));


--
-- Name: alerts_unpaged; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX alerts_unpaged ON public.alerts USING btree (partition, alert_id) WHERE (page_id IS NULL);


--
-- Name: contacts_by_customer; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX contacts_by_customer ON public.contacts USING btree (partition, customer_id);


--
-- Name: decisions_by_customer; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX decisions_by_customer ON ONLY public.decisions USING btree (partition, customer_id, decided_at);


--
-- Name: decisions_2026_11_partition_customer_id_decided_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX decisions_2026_11_partition_customer_id_decided_at_idx ON public.decisions_2026_11 USING btree (partition, customer_id, decided_at);


--
-- Name: decisions_without_customer; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX decisions_without_customer ON ONLY public.decisions USING btree (partition, invoice_id, decided_at) WHERE (customer_id IS NULL);


--
-- Name: decisions_2026_11_partition_invoice_id_decided_at_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX decisions_2026_11_partition_invoice_id_decided_at_idx ON public.decisions_2026_11 USING btree (partition, invoice_id, decided_at) WHERE (customer_id IS NULL);


--
-- Name: events_threads_by_customer; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX events_threads_by_customer ON public.events USING btree (partition, ((state ->> 'customer_id'::text))) WHERE (topic = ANY (ARRAY['ledger:Thread.Created'::text, 'ledger:Thread.Moved'::text]));


--
-- Name: idempotency_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX idempotency_by_age ON public.idempotency USING btree (partition, created_at);


--
-- Name: pages_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX pages_open ON public.pages USING btree (partition, page_id) WHERE (done_at IS NULL);


--
-- Name: permits_unsettled; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX permits_unsettled ON public.permits USING btree (partition, state, send_by) WHERE (state = ANY (ARRAY['granted'::text, 'redeemed'::text, 'unknown'::text]));


--
-- Name: refresh_work_next; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX refresh_work_next ON public.refresh_work USING btree (partition, provider, next_attempt_at);


--
-- Name: rejected_bodies_by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rejected_bodies_by_age ON public.rejected_bodies USING btree (partition, received_at);


--
-- Name: rejected_bodies_once; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX rejected_bodies_once ON public.rejected_bodies USING btree (partition, provider, body_hash);


--
-- Name: rejected_bodies_open; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX rejected_bodies_open ON public.rejected_bodies USING btree (partition, rejected_id) WHERE (resolved_at IS NULL);


--
-- Name: decisions_2026_11_partition_customer_id_decided_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.decisions_by_customer ATTACH PARTITION public.decisions_2026_11_partition_customer_id_decided_at_idx;


--
-- Name: decisions_2026_11_partition_invoice_id_decided_at_idx; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.decisions_without_customer ATTACH PARTITION public.decisions_2026_11_partition_invoice_id_decided_at_idx;


--
-- Name: decisions_2026_11_pkey; Type: INDEX ATTACH; Schema: public; Owner: -
--

ALTER INDEX public.decisions_pkey ATTACH PARTITION public.decisions_2026_11_pkey;


--
-- Name: alerts alerts_have_a_place; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER alerts_have_a_place BEFORE INSERT ON public.alerts FOR EACH ROW EXECUTE FUNCTION public.place_alert();


--
-- Name: decisions decisions_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER decisions_are_append_only BEFORE DELETE OR UPDATE ON public.decisions FOR EACH ROW EXECUTE FUNCTION public.refuse_change();


--
-- Name: decisions decisions_are_not_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER decisions_are_not_truncated BEFORE TRUNCATE ON public.decisions FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();


--
-- Name: events events_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER events_are_append_only BEFORE DELETE OR UPDATE ON public.events FOR EACH ROW EXECUTE FUNCTION public.refuse_change();


--
-- Name: events events_are_not_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();


--
-- Name: policies policies_are_append_only; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER policies_are_append_only BEFORE DELETE OR UPDATE ON public.policies FOR EACH ROW EXECUTE FUNCTION public.refuse_change();


--
-- Name: policies policies_are_not_truncated; Type: TRIGGER; Schema: public; Owner: -
--

CREATE TRIGGER policies_are_not_truncated BEFORE TRUNCATE ON public.policies FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change();


--
-- Name: clock clock_partition_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.clock
    ADD CONSTRAINT clock_partition_fkey FOREIGN KEY (partition) REFERENCES public.partitions(partition);


--
-- Name: page_deliveries page_deliveries_partition_page_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.page_deliveries
    ADD CONSTRAINT page_deliveries_partition_page_id_fkey FOREIGN KEY (partition, page_id) REFERENCES public.pages(partition, page_id);


--
-- Name: projections projections_partition_name_generation_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.projections
    ADD CONSTRAINT projections_partition_name_generation_fkey FOREIGN KEY (partition, name, generation) REFERENCES public.projection_generations(partition, name, generation);


--
-- PostgreSQL database dump complete
--


