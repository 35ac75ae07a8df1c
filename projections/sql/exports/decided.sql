-- How many decisions the log has now of a range that was exported, all of them and the denials.
SELECT count(*), count(d.code) FROM analytics.decisions d
WHERE d.log_position >= %(after)s AND d.log_position < %(upto)s AND d.decided_at >= %(since)s
