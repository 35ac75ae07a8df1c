SELECT f.source, f.first_heard_at, f.last_heard_at, f.tells_of_money, f.silence_noted_at,
    f.applied, f.duplicate, f.stale, f.ignored, f.rejected
FROM feeds f
WHERE f.partition = 0 AND f.source > %(after)s
ORDER BY f.source
LIMIT %(limit)s
