-- Every source of facts, one row each.
SELECT f.source, f.first_heard_at, f.last_heard_at, f.silence_noted_at AS silent_since_at,
    f.tells_of_money AS is_about_money,
    f.applied AS applied_count, f.duplicate AS duplicate_count, f.stale AS stale_count,
    f.ignored AS ignored_count, f.rejected AS rejected_count
FROM {ledger}.feeds f
WHERE f.partition = 0
