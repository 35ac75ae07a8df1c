-- One pager at a time decides what leaves next. The statements after it see what the one before
-- it committed, because each takes its snapshot after this wait.
SELECT pg_advisory_xact_lock(%(key)s)
