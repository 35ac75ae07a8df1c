-- Each provider's oldest overdue object, and the number of its overdue objects.
SELECT DISTINCT ON (provider)
    provider, refresh_id, first_hinted_at, count(*) OVER (PARTITION BY provider)
FROM refresh_work
WHERE partition = 0 AND first_hinted_at <= (SELECT ledger_now()) - make_interval(mins => %(minutes)s)
ORDER BY provider, refresh_id
