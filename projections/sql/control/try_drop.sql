-- Readers hold this lock in shared mode, so it is free only while nobody reads. Taken without
-- waiting, so that new readers do not queue behind this request and a slow reader.
SELECT pg_try_advisory_xact_lock(7203412883)
