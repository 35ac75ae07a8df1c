-- The first acknowledgement stays; a later one changes nothing and is no error.
UPDATE alerts
SET acked_at = coalesce(acked_at, ledger_now()), acked_by = coalesce(acked_by, %(by)s)
WHERE partition = 0 AND alert_id = %(alert_id)s
RETURNING alert_id
