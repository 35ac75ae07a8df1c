-- Which customers were merged into which, and who answers for each of them now (design D9).

CREATE TYPE log_entry AS (topic text, at timestamptz, state json);
COMMENT ON TYPE log_entry IS 'An event as the folding functions take it.';

CREATE TABLE merged (
    customer_id text COLLATE "C" PRIMARY KEY,
    owner_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL
);
COMMENT ON TABLE merged IS 'Customers that went into another one, and who is at the end of the chain.';
COMMENT ON COLUMN merged.position IS 'Where the log tells of it.';
CREATE INDEX merged_by_owner ON merged (owner_id);
CREATE INDEX merged_by_position ON merged (position);

CREATE FUNCTION owner_of(customer text) RETURNS text
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce((SELECT m.owner_id FROM merged m WHERE m.customer_id = customer), customer) $$;

-- Take in the merges of a range of the log, and those that were undone, in their order.
CREATE FUNCTION note_merges(after bigint, upto bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
DECLARE
    fact record;
BEGIN
    FOR fact IN
        SELECT e.position, c.state ->> 'customer_id' AS gone, e.state ->> 'into' AS into_id,
            e.state -> 'ids' AS ids
        FROM events e
        JOIN LATERAL (
            SELECT f.state FROM events f
            WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
            OFFSET 0
        ) c ON true
        WHERE e.partition = 0 AND e.position > after AND e.position <= upto
            AND e.topic IN ('ledger:Customer.MergedInto', 'ledger:Customer.Unmerged')
        ORDER BY e.position
    LOOP
        IF fact.into_id IS NULL THEN
            DELETE FROM merged m WHERE m.customer_id = fact.gone;
            UPDATE merged m SET owner_id = fact.gone
            WHERE m.customer_id IN (SELECT json_array_elements_text(fact.ids) COLLATE "C");
            CONTINUE;
        END IF;
        INSERT INTO merged VALUES (fact.gone, owner_of(fact.into_id), fact.position)
            ON CONFLICT DO NOTHING;
        UPDATE merged m SET owner_id = owner_of(fact.into_id) WHERE m.owner_id = fact.gone;
    END LOOP;
END $$;

-- The customers who went within a range of the log.
CREATE FUNCTION gone_within(after bigint, upto bigint) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$ SELECT array_agg(m.customer_id) FROM merged m WHERE m.position > after AND m.position <= upto $$;

-- The customers who were parted within a range: the ids that left, and those of whom they left.
CREATE FUNCTION parted_within(after bigint, upto bigint) RETURNS TABLE (ids text[], others text[])
    LANGUAGE sql STABLE
    AS $$
        SELECT ARRAY(SELECT json_array_elements_text(e.state -> 'ids')),
            ARRAY(SELECT json_array_elements_text(e.state -> 'others'))
        FROM events e
        WHERE e.partition = 0 AND e.position > after AND e.position <= upto
            AND e.topic = 'ledger:Customer.Unmerged'
    $$;
