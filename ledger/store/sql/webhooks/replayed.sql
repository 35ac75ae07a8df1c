-- After a replay: accepted completely, then the bytes are deleted (design D18), or kept with the
-- reasons that are left.
UPDATE rejected_bodies SET
    replayed_at = ledger_now(),
    kinds = CASE WHEN %(used)s THEN kinds ELSE %(kinds)s END,
    reasons = CASE WHEN %(used)s THEN reasons ELSE %(reasons)s END,
    body = CASE WHEN %(used)s THEN ''::bytea ELSE body END,
    headers = CASE WHEN %(used)s THEN '{}'::json ELSE headers END,
    resolved_at = CASE WHEN %(used)s THEN ledger_now() END,
    resolution = CASE WHEN %(used)s THEN 'replayed' END
WHERE partition = 0 AND rejected_id = %(rejected_id)s AND resolved_at IS NULL
