SELECT i.position, i.incident_id, i.title, i.cause, i.window_from, i.window_to, i.declared_by,
    i.declared_at, i.closed_by, i.closed_at
FROM incidents i
WHERE i.position < %(before)s
ORDER BY i.position DESC
LIMIT %(limit)s
