-- Bytes of the log, of the decision log and of all other tables, indexes included, and of all WAL.
WITH tables AS (
    SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
)
SELECT
    (SELECT sum(bytes) FROM tables WHERE name = 'events')::bigint,
    (SELECT coalesce(sum(bytes), 0) FROM tables WHERE name LIKE 'decisions%')::bigint,
    (SELECT sum(bytes) FROM tables WHERE name <> 'events' AND name NOT LIKE 'decisions%')::bigint,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint
