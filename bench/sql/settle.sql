-- Vacuum after the preparation of a load, so that autovacuum does not start during the measurement.
VACUUM (ANALYZE)
