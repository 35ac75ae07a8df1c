-- The settings of this session that decide whether a commit survives a crash.
SELECT s.name, s.setting FROM pg_settings s
WHERE s.name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY s.name
