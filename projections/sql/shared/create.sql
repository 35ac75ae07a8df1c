-- Which customers were merged into which, and who answers for each of them now (design D9).

CREATE TYPE log_entry AS (topic text, at timestamptz, state json);
COMMENT ON TYPE log_entry IS 'An event as the folding functions take it.';

CREATE TABLE merged (
    customer_id text COLLATE "C" PRIMARY KEY,
    into_id text NOT NULL,
    owner_id text COLLATE "C" NOT NULL
);
COMMENT ON TABLE merged IS 'Customers that went into another one; owner_id is the end of the chain.';
CREATE INDEX merged_by_owner ON merged (owner_id);

CREATE FUNCTION owner_of(customer text) RETURNS text
    LANGUAGE sql STABLE
    AS $$ SELECT coalesce((SELECT m.owner_id FROM merged m WHERE m.customer_id = customer), customer) $$;

-- Take in the merges of a range of the log; answers those who went, and who owns theirs now.
CREATE FUNCTION note_merges(after bigint, upto bigint) RETURNS TABLE (gone text, owner text)
    LANGUAGE plpgsql VOLATILE ROWS 1
    AS $$
DECLARE
    fact record;
    went text[] := '{}';
BEGIN
    FOR fact IN
        SELECT c.state ->> 'customer_id' AS customer_id, e.state ->> 'into' AS into_id
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
        INSERT INTO merged VALUES (fact.customer_id, fact.into_id, owner_of(fact.into_id))
            ON CONFLICT DO NOTHING;
        UPDATE merged m SET owner_id = owner_of(fact.into_id) WHERE m.owner_id = fact.customer_id;
        went := went || fact.customer_id;
    END LOOP;
    RETURN QUERY SELECT w, owner_of(w) FROM unnest(went) AS w;
END $$;
