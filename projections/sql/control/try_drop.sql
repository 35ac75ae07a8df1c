-- Free only while nobody reads: readers share it. Asked for without waiting, so that nobody waits
-- behind a slow reader.
SELECT pg_try_advisory_xact_lock(7203412883)
