SELECT pg_advisory_unlock(%(number)s)
