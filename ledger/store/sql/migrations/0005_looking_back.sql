-- What people look back with: which ledger this is, timelines, and a decision log that only grows.

INSERT INTO settings (partition, name, value) VALUES (0, 'epoch', gen_random_uuid()::text)
    ON CONFLICT DO NOTHING;

ALTER TABLE alerts ADD COLUMN position bigint;
COMMENT ON COLUMN alerts.position IS 'The end of the log when it was raised: its place in a timeline.';
UPDATE alerts a SET position = coalesce((
    SELECT e.position FROM events e
    WHERE e.partition = 0 AND e.recorded_at <= a.raised_at
    ORDER BY e.position DESC LIMIT 1
), 0);
ALTER TABLE alerts ALTER COLUMN position SET NOT NULL;
CREATE FUNCTION place_alert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.position := coalesce((SELECT max(e.position) FROM events e WHERE e.partition = 0), 0);
    RETURN NEW;
END $$;
CREATE TRIGGER alerts_have_a_place BEFORE INSERT ON alerts
    FOR EACH ROW EXECUTE FUNCTION place_alert();
CREATE INDEX alerts_by_customer ON alerts (partition, customer_id, position);

-- Which threads are a customer's, and what was asked of invoices that nobody had told of yet.
CREATE INDEX events_threads_by_customer ON events (partition, (state ->> 'customer_id'))
    WHERE topic IN ('ledger:Thread.Created', 'ledger:Thread.Moved');
CREATE INDEX decisions_without_customer ON decisions (partition, invoice_id, decided_at)
    WHERE customer_id IS NULL;

CREATE TRIGGER decisions_are_append_only BEFORE UPDATE OR DELETE ON decisions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER decisions_are_not_truncated BEFORE TRUNCATE ON decisions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER policies_are_append_only BEFORE UPDATE OR DELETE ON policies
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER policies_are_not_truncated BEFORE TRUNCATE ON policies
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The planner's samples of a column outlive its rows, and go into dumps: no addresses in them (D18).
ALTER TABLE contacts ALTER COLUMN address SET STATISTICS 0;
ALTER TABLE rejected_bodies
    ALTER COLUMN headers SET STATISTICS 0,
    ALTER COLUMN body SET STATISTICS 0;
