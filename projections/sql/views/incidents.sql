-- Every incident that a human declared, one row each.
SELECT i.incident_id, i.title, i.cause, i.window_from, i.window_to, i.declared_at, i.closed_at,
    i.position AS log_position
FROM {incidents}.incidents i
