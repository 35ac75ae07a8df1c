-- What the preparation of a load left for autovacuum, done now, so that it does not start meanwhile.
VACUUM (ANALYZE)
