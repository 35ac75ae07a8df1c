-- Makes a role that reads the schema analytics and nothing else, under limits, and may log in. The
-- setting ledger.analyst names it. Whoever may make roles runs this; repeating it is safe.
DO $$
DECLARE
    analyst constant text := current_setting('ledger.analyst');
    owner constant text := (
        SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'analytics');
    setting record;
BEGIN
    IF owner IS NULL THEN
        RAISE EXCEPTION 'there is no schema analytics; run `send-ledger migrate` first';
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = analyst) THEN
        EXECUTE format('CREATE ROLE %I LOGIN', analyst);
    ELSIF pg_has_role(analyst, owner, 'MEMBER') THEN
        RAISE EXCEPTION 'role % is a member of %, or a superuser: it could do more than read', analyst, owner;
    END IF;
    FOR setting IN
        SELECT * FROM (VALUES
            ('default_transaction_read_only', 'on', 0),
            ('statement_timeout', '60s', 0),
            ('lock_timeout', '1s', 0),
            ('idle_in_transaction_session_timeout', '10s', 0),
            ('idle_session_timeout', '1h', 140000),
            ('transaction_timeout', '5min', 170000),
            ('max_parallel_workers_per_gather', '0', 0),
            ('jit', 'off', 0),
            ('search_path', 'analytics', 0)
        ) AS s(name, value, since)
        WHERE s.since <= current_setting('server_version_num')::integer
    LOOP
        EXECUTE format('ALTER ROLE %I SET %s = %L', analyst, setting.name, setting.value);
    END LOOP;
    -- Each connection may take a core and its share of the disk from the ledger.
    EXECUTE format('ALTER ROLE %I CONNECTION LIMIT 4', analyst);
    EXECUTE format('GRANT USAGE ON SCHEMA analytics TO %I', analyst);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO %I', analyst);
    -- Views that a later version of the program makes.
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA analytics GRANT SELECT ON TABLES TO %I',
        owner, analyst);
END $$
