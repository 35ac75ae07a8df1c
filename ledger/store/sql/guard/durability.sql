-- The settings on which it depends whether a commit outlives a crash, as this session has them.
SELECT s.name, s.setting FROM pg_settings s
WHERE s.name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY s.name
