COMMENT ON VIEW analytics.incidents IS
    'Every incident that a human declared, one row each.';
COMMENT ON COLUMN analytics.incidents.incident_id IS 'The id of the incident.';
COMMENT ON COLUMN analytics.incidents.title IS 'What a human called it.';
COMMENT ON COLUMN analytics.incidents.cause IS 'What a human said is the cause.';
COMMENT ON COLUMN analytics.incidents.window_from IS 'The start of the window (UTC).';
COMMENT ON COLUMN analytics.incidents.window_to IS 'The end of the window (UTC), which is no part of it.';
COMMENT ON COLUMN analytics.incidents.declared_at IS 'When it was declared (UTC).';
COMMENT ON COLUMN analytics.incidents.closed_at IS 'When it was closed (UTC); null: it is open.';
COMMENT ON COLUMN analytics.incidents.log_position IS 'The position of the log at which it was declared.';
