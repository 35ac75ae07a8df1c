-- The database's clock, and the time of the last event of the log (null where the log is empty).
SELECT clock_timestamp(),
    (SELECT e.recorded_at FROM events e WHERE e.partition = 0 ORDER BY e.position DESC LIMIT 1)
