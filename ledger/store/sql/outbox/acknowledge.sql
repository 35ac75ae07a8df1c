-- The first acknowledgement is kept; a later one changes nothing and is not an error.
UPDATE alerts
SET acked_at = coalesce(acked_at, ledger_now()), acked_by = coalesce(acked_by, %(by)s)
WHERE partition = 0 AND alert_id = %(alert_id)s
RETURNING alert_id
