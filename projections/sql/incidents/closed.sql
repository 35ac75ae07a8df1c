-- Incidents that were closed within a range; a closed one is closed only once.
UPDATE incidents i SET closed_by = e.state ->> 'by', closed_at = e.recorded_at
FROM events e
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic = 'ledger:Incident.Closed' AND e.originator_id = i.originator_id
