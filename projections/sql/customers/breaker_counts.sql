SELECT c.breaker_scope, count(*) FROM customers c
WHERE c.breaker_scope IS NOT NULL AND c.merged_into IS NULL
GROUP BY 1
