-- The current episode of open bodies of this kind; a new one where there was none.
INSERT INTO rejected_kinds (partition, provider, kind)
VALUES (0, %(provider)s, %(kind)s)
ON CONFLICT (partition, provider, kind) DO UPDATE SET
    episode = rejected_kinds.episode + CASE WHEN rejected_kinds.open THEN 0 ELSE 1 END,
    open = true
RETURNING episode
