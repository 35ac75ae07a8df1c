SELECT
    refresh_id, provider, object_kind, object_id, hints, first_hinted_at, last_hinted_at, attempts, last_error
FROM refresh_work
WHERE partition = 0
    AND refresh_id > %(after)s
    AND (%(provider)s::text IS NULL OR provider = %(provider)s)
ORDER BY refresh_id
LIMIT %(limit)s
