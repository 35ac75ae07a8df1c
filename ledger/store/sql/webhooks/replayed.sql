-- After a replay: used in full, or kept with what stands in the way now.
UPDATE rejected_bodies SET
    replayed_at = ledger_now(),
    kinds = CASE WHEN %(used)s THEN kinds ELSE %(kinds)s END,
    reasons = CASE WHEN %(used)s THEN reasons ELSE %(reasons)s END,
    resolved_at = CASE WHEN %(used)s THEN ledger_now() END,
    resolution = CASE WHEN %(used)s THEN 'replayed' END
WHERE partition = 0 AND rejected_id = %(rejected_id)s
