-- The writer lock is taken in one place, for a bounded time whatever the connection is set to.

CREATE FUNCTION take_writer_lock() RETURNS void
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    -- To the end of the transaction, and only where the session has no limit as strict: nobody waits
    -- for ever, and a process that stops while it holds the lock loses its connection.
    IF current_setting('lock_timeout')::interval NOT BETWEEN '1 ms' AND '5 s' THEN
        PERFORM set_config('lock_timeout', '5s', true);
    END IF;
    IF current_setting('statement_timeout')::interval NOT BETWEEN '1 ms' AND '10 s' THEN
        PERFORM set_config('statement_timeout', '10s', true);
    END IF;
    IF current_setting('idle_in_transaction_session_timeout')::interval
        NOT BETWEEN '1 ms' AND '15 s' THEN
        PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
    END IF;
    PERFORM 1 FROM partitions p WHERE p.partition = 0 FOR UPDATE;
END $$;
COMMENT ON FUNCTION take_writer_lock IS 'The only way to the writer lock; nothing else locks partitions.';

DROP FUNCTION begin_batch;
CREATE FUNCTION begin_batch(
    OUT head_position bigint,
    OUT head_hash bytea,
    OUT head_recorded_at timestamptz,
    OUT read_at timestamptz,
    OUT is_test_clock boolean,
    OUT keys_version bigint,
    OUT awaits_standby boolean
)
    LANGUAGE plpgsql VOLATILE
    AS $$
BEGIN
    PERFORM take_writer_lock();
    -- Separate statements: one that waited for the lock still sees the time and the rows from
    -- before its wait (design D3, D16).
    SELECT e.position, e.hash, e.recorded_at INTO head_position, head_hash, head_recorded_at
        FROM events e WHERE e.partition = 0 ORDER BY e.position DESC LIMIT 1;
    SELECT c.test_now IS NOT NULL, coalesce(c.test_now, clock_timestamp())
        INTO is_test_clock, read_at FROM clock c WHERE c.partition = 0;
    SELECT s.value::bigint INTO keys_version FROM settings s
        WHERE s.partition = 0 AND s.name = 'keys_version';
    -- Does COMMIT wait until a standby has the batch on its disk?
    awaits_standby := current_setting('synchronous_standby_names') <> ''
        AND current_setting('synchronous_commit') IN ('on', 'remote_apply');
END $$;
