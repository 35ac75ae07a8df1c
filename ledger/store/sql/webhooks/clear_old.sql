-- Bodies may contain addresses, so they are deleted after the policy's number of days (design D18).
DELETE FROM rejected_bodies
WHERE partition = 0 AND rejected_id IN (
    SELECT rejected_id FROM rejected_bodies
    WHERE partition = 0 AND received_at <= (SELECT ledger_now()) - make_interval(days => %(days)s)
    ORDER BY received_at
    LIMIT %(limit)s
)
