-- Sources that reminders rest on and that have not been heard for too long, the longest silent first.
SELECT f.source, f.last_heard_at
FROM feeds f
WHERE f.partition = 0 AND f.tells_of_money AND f.silence_noted_at IS NULL
    AND f.last_heard_at <= ledger_now() - interval '1 hour' * %(hours)s
ORDER BY f.last_heard_at, f.source
LIMIT %(limit)s
