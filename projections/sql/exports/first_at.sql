-- The last position of the log before a time.
SELECT coalesce((
    SELECT e.position FROM events e WHERE e.partition = 0 AND e.recorded_at < %(at)s
    ORDER BY e.position DESC LIMIT 1), 0)
