-- Who closed breakers of these customers in a time, and why: one row for each name and reason.
SELECT e.state ->> 'by', e.state ->> 'reason', count(DISTINCT e.originator_id), min(e.recorded_at)
FROM events e
WHERE e.partition = 0 AND e.originator_id = ANY(%(customers)s)
    AND e.topic = 'ledger:Customer.BreakerReset'
    AND e.recorded_at >= %(since)s AND e.recorded_at <= %(until)s
GROUP BY 1, 2
ORDER BY 4, 1, 2
LIMIT %(limit)s
