SELECT pg_advisory_unlock(%(key)s, hashtext(%(name)s))
