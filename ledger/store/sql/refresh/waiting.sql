SELECT provider, count(*) FROM refresh_work WHERE partition = 0 GROUP BY provider ORDER BY provider
