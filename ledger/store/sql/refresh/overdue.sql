-- The oldest object of each provider that has waited too long, and how many have.
SELECT DISTINCT ON (provider)
    provider, refresh_id, first_hinted_at, count(*) OVER (PARTITION BY provider)
FROM refresh_work
WHERE partition = 0 AND first_hinted_at <= (SELECT ledger_now()) - make_interval(mins => %(minutes)s)
ORDER BY provider, refresh_id
