-- Incidents that were declared within a range.
INSERT INTO incidents
SELECT e.originator_id, e.position, s.incident_id, s.title, s.cause, s.window_from, s.window_to,
    s.declared_by, e.recorded_at
FROM events e
CROSS JOIN LATERAL json_to_record(e.state) AS s(
    incident_id text, title text, cause text, window_from timestamptz, window_to timestamptz,
    declared_by text)
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic = 'ledger:Incident.Created'
