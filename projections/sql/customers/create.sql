-- Customers and their mails as the log tells of them: what says who cannot be mailed now (D8, D9).

CREATE TABLE customers (
    originator_id uuid PRIMARY KEY,
    customer_id text COLLATE "C" NOT NULL UNIQUE,
    addresses text[] NOT NULL,
    held_addresses jsonb NOT NULL,
    breaker_scope text,
    breaker_opened_at timestamptz,
    breaker_cause text,
    held_indefinitely boolean NOT NULL,
    held_until timestamptz,
    merged_into text,
    subscriptions jsonb NOT NULL,
    credits jsonb NOT NULL DEFAULT '{}'
);
COMMENT ON COLUMN customers.addresses IS 'Fingerprints of the addresses, the first preferred (design D18).';
COMMENT ON COLUMN customers.held_addresses IS
    'Fingerprints of addresses that were held before holds belonged to addresses, and why.';
COMMENT ON COLUMN customers.held_until IS 'Until when reminders are held back; held_indefinitely: without end.';
COMMENT ON COLUMN customers.merged_into IS 'The customer that this one turned out to be.';
COMMENT ON COLUMN customers.credits IS
    'Credit beside any invoice in minor units, by the id under which it was told, then by currency.';
CREATE INDEX customers_with_credit ON customers (customer_id) WHERE credits <> '{}';
COMMENT ON COLUMN customers.subscriptions IS 'The latest word on each subscription, by its id.';
CREATE INDEX customers_with_open_breaker ON customers (customer_id)
    WHERE breaker_scope IS NOT NULL AND merged_into IS NULL;

CREATE TABLE held_addresses (
    fingerprint text COLLATE "C" PRIMARY KEY,
    suppressed_until timestamptz,
    suppressed_indefinitely boolean NOT NULL,
    unsubscribed_until timestamptz,
    unsubscribed_indefinitely boolean NOT NULL
);
COMMENT ON TABLE held_addresses IS 'Addresses of which a hold was ever told, whoever has them (design D21).';
COMMENT ON COLUMN held_addresses.suppressed_until IS
    'Until when reminders are held back: it bounced, its owner complained, a human blocked it.';
COMMENT ON COLUMN held_addresses.unsubscribed_until IS 'Until when its owner wants no reminders.';

CREATE TABLE mails (
    permit_id uuid PRIMARY KEY,
    customer_id text NOT NULL,
    owner_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    lane text NOT NULL,
    sender text NOT NULL,
    observed boolean NOT NULL,
    redeem_required boolean NOT NULL,
    granted_at timestamptz NOT NULL,
    send_by timestamptz NOT NULL,
    state text NOT NULL,
    redeemed_at timestamptz,
    settled_at timestamptz,
    dunning boolean NOT NULL DEFAULT false
) WITH (fillfactor = 75);
COMMENT ON TABLE mails IS 'Every permit and every mail that went out past the ledger.';
COMMENT ON COLUMN mails.owner_id IS 'The customer that it counts for, after merges.';
COMMENT ON COLUMN mails.observed IS 'It went out without a permit.';
COMMENT ON COLUMN mails.dunning IS 'It reminded of invoices.';
CREATE INDEX mails_by_owner ON mails (owner_id, send_by);
CREATE INDEX mails_by_time ON mails (granted_at);

-- From when a mail counts in the rolling windows, null if it does not: Permit.counts_at in SQL.
CREATE FUNCTION counts_at(m mails) RETURNS timestamptz
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

-- The same at an instant: what was not settled by its `send_by` has expired or is unknown (D6).
CREATE FUNCTION counts_at(m mails, instant timestamptz) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE
    AS $$
        SELECT CASE
            WHEN m.state IN ('granted', 'redeemed') AND m.send_by <= instant THEN
                CASE WHEN m.state = 'redeemed' OR NOT m.redeem_required
                    THEN greatest(m.send_by, coalesce(m.redeemed_at, m.granted_at)) END
            ELSE counts_at(m) END
    $$;

-- What a customer has in a currency, over all their ids: CreditBook.available in SQL.
CREATE FUNCTION available_credit(credits jsonb, currency text) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT greatest(0, sum((c.value ->> currency)::numeric)) FROM jsonb_each(credits) c $$;

-- Have all of these subscriptions of a customer ended by an instant? One that nobody told of may live:
-- SubscriptionBook.ended in SQL.
CREATE FUNCTION subscriptions_ended(customer text, ids text[], instant timestamptz) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
        SELECT coalesce(bool_and(coalesce(
            (c.subscriptions -> named.id ->> 'ended')::boolean
            AND (c.subscriptions -> named.id ->> 'at')::timestamptz <= instant, false)), false)
        FROM customers c CROSS JOIN unnest(ids) AS named(id)
        WHERE c.customer_id = customer
    $$;

-- The subscriptions with one more word on one of them, or the same where it is older than the last:
-- SubscriptionBook.newer and .note in SQL.
CREATE FUNCTION note_subscription(known jsonb, told jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    id text := told ->> 'subscription_id';
    oldest text;
BEGIN
    IF (told ->> 'at')::timestamptz < (known -> id ->> 'at')::timestamptz THEN
        RETURN known;
    END IF;
    known := known || jsonb_build_object(
        id, jsonb_build_object('ended', told -> 'ended', 'at', told -> 'at'));
    IF (SELECT count(*) FROM jsonb_object_keys(known)) > 200 THEN
        SELECT k.key INTO oldest FROM jsonb_each(known) k
            ORDER BY (k.value ->> 'at')::timestamptz, k.key COLLATE "C" LIMIT 1;
        known := known - oldest;
    END IF;
    RETURN known;
END $$;

-- A customer after some of their events, oldest first; null for one whose beginning was left out.
CREATE FUNCTION fold_customer(c customers, id uuid, entries log_entry[]) RETURNS customers
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
    entry log_entry;
    s jsonb;
    theirs jsonb;
    told jsonb;
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
                c.credits := '{}';
                c.subscriptions := '{}';
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
                c.credits := c.credits || coalesce(s -> 'credits', '{}');
                -- Merges of before ends of subscriptions were told carry none.
                FOR told IN SELECT jsonb_array_elements(s -> 'subscriptions') LOOP
                    c.subscriptions := note_subscription(c.subscriptions, told);
                END LOOP;
            WHEN 'ledger:Customer.SubscriptionEnded', 'ledger:Customer.SubscriptionResumed' THEN
                c.subscriptions := note_subscription(c.subscriptions, s -> 'subscription');
            WHEN 'ledger:Customer.Unmerged' THEN
                c.merged_into := NULL;
                c.held_until := s ->> 'held_until';
                c.held_indefinitely := s ->> 'indefinite';
                theirs := s -> 'breaker';
                c.breaker_scope := theirs ->> 'scope';
                c.breaker_opened_at := theirs ->> 'opened_at';
                c.breaker_cause := theirs ->> 'cause';
                c.held_addresses := s -> 'held_addresses';
                c.credits := s -> 'credits';
                c.subscriptions := '{}';
                FOR told IN SELECT jsonb_array_elements(s -> 'subscriptions') LOOP
                    c.subscriptions := note_subscription(c.subscriptions, told);
                END LOOP;
            WHEN 'ledger:Customer.CreditNoted' THEN
                c.credits := c.credits || jsonb_build_object(
                    s ->> 'customer_id',
                    coalesce(c.credits -> (s ->> 'customer_id'), '{}')
                        || jsonb_build_object(s ->> 'currency', s -> 'balance'));
            WHEN 'ledger:Customer.LetGo' THEN
                c.subscriptions :=
                    c.subscriptions - ARRAY(SELECT jsonb_array_elements_text(s -> 'subscriptions'));
                c.credits := c.credits - ARRAY(SELECT jsonb_array_elements_text(s -> 'ids'));
                c.addresses := ARRAY(SELECT jsonb_array_elements_text(s -> 'addresses'));
            WHEN 'ledger:Customer.Erased' THEN
                c.addresses := '{}';
        END CASE;
    END LOOP;
    IF c.customer_id IS NULL OR starts_with(c.customer_id, 'ledger-probe-') THEN
        RETURN NULL;
    END IF;
    RETURN c;
END $$;
