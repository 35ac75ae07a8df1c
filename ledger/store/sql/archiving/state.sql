-- Whether PostgreSQL archives its log, and what became of it; the times are the server's.
SELECT current_setting('archive_mode') <> 'off' AS archives,
    a.last_archived_time,
    a.last_failed_time > coalesce(a.last_archived_time, '-infinity') AS fails,
    coalesce(a.last_archived_time, a.stats_reset) < now() - interval '24 hours' AS is_old
FROM pg_stat_archiver a
