-- Which ledger this is, and which server holds it: a promotion begins a new timeline.
SELECT s.value, c.system_identifier,
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
FROM settings s, pg_control_system() c
WHERE s.partition = 0 AND s.name = 'epoch'
