-- Decisions at a position before the last one of the range: at that one more may follow.
SELECT d.decided_day AS partition_day, d.*, %(upto)s::bigint AS exported_position
FROM analytics.decisions d
WHERE d.log_position >= %(after)s AND d.log_position < %(upto)s AND d.decided_at >= %(since)s
ORDER BY d.decided_day, d.decided_at, d.decision_id
