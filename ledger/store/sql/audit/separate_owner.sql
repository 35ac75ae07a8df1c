-- Makes a role without login the owner of the append-only tables (the log, the decisions, the
-- policies). The ledger's own role can then insert rows, but not change rows, tables or triggers.
-- A superuser runs this in the ledger's database after each `migrate`; repeating it is safe. The
-- settings ledger.app and ledger.owner name the two roles.
DO $$
DECLARE
    app constant text := current_setting('ledger.app');
    owner constant text := current_setting('ledger.owner');
    found record;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = owner) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', owner);
    END IF;
    IF pg_has_role(app, owner, 'MEMBER') THEN
        RAISE EXCEPTION 'role % is a member of %, or a superuser: it could do what the owner can', app, owner;
    END IF;
    -- The owner of a schema may drop the objects in it.
    EXECUTE format('ALTER DATABASE %I OWNER TO %I', current_database(), owner);
    EXECUTE format('ALTER SCHEMA public OWNER TO %I', owner);
    EXECUTE format('GRANT CONNECT, CREATE, TEMPORARY ON DATABASE %I TO %I', current_database(), app);
    EXECUTE format('GRANT USAGE, CREATE ON SCHEMA public TO %I', app);
    FOR found IN
        SELECT c.oid::regclass AS name,
            c.relname IN ('events', 'decisions', 'policies') OR EXISTS (
                SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid AND i.inhparent = 'public.decisions'::regclass
            ) AS only_grows
        FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', found.name, CASE WHEN found.only_grows THEN owner ELSE app END);
        IF found.only_grows THEN
            EXECUTE format('REVOKE ALL ON %s FROM PUBLIC, %I', found.name, app);
            EXECUTE format('GRANT SELECT, INSERT ON %s TO %I', found.name, app);
        END IF;
    END LOOP;
    FOR found IN
        SELECT p.oid::regprocedure AS name, p.proname IN ('refuse_change', 'ensure_decision_part') AS guards
        FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO %I', found.name, CASE WHEN found.guards THEN owner ELSE app END);
    END LOOP;
    -- What `migrate` made as a superuser: the service builds and replaces these itself.
    FOR found IN
        SELECT n.nspname AS name FROM pg_namespace n
        WHERE n.nspname = 'analytics' OR n.nspname ~ '^projection_'
    LOOP
        EXECUTE format('ALTER SCHEMA %I OWNER TO %I', found.name, app);
    END LOOP;
    FOR found IN
        SELECT c.oid::regclass AS name, c.relkind FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE (n.nspname = 'analytics' OR n.nspname ~ '^projection_') AND c.relkind IN ('r', 'v')
    LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I',
            CASE found.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, found.name, app);
    END LOOP;
    FOR found IN
        SELECT p.oid::regprocedure AS name FROM pg_proc p
        JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname ~ '^projection_'
    LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO %I', found.name, app);
    END LOOP;
    -- This function makes the decision log's next partition, which only the table's owner may do.
    ALTER FUNCTION public.ensure_decision_part(timestamptz) SECURITY DEFINER SET search_path = public, pg_temp;
    REVOKE ALL ON FUNCTION public.ensure_decision_part(timestamptz) FROM PUBLIC;
    EXECUTE format('GRANT EXECUTE ON FUNCTION public.ensure_decision_part(timestamptz) TO %I', app);
END $$;
