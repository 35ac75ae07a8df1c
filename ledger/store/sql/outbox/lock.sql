-- One pager at a time groups alerts into pages. The statements after this one see what the previous
-- pager committed, because their snapshots are taken after this wait.
SELECT pg_advisory_xact_lock(%(key)s)
