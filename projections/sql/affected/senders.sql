SELECT r.sender, count(*), min(r.at), max(r.at)
FROM received r GROUP BY r.sender ORDER BY 2 DESC, 1 LIMIT %(limit)s
