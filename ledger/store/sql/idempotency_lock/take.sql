SELECT pg_try_advisory_lock(%(number)s)
