-- Alerts that nobody has acknowledged: those named, or all (of a kind) up to one that was seen.
-- Drills are for nobody to acknowledge.
UPDATE alerts a
SET acked_at = ledger_now(), acked_by = %(by)s
WHERE a.partition = 0 AND a.acked_at IS NULL AND NOT a.drill
    AND (%(ids)s::bigint[] IS NULL OR a.alert_id = ANY (%(ids)s))
    AND (%(up_to)s::bigint IS NULL OR a.alert_id <= %(up_to)s)
    AND (%(kind)s::text IS NULL OR a.kind = %(kind)s)
