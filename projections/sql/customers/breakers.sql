SELECT c.customer_id, c.breaker_scope, c.breaker_opened_at, c.breaker_cause FROM customers c
WHERE c.breaker_scope IS NOT NULL AND c.merged_into IS NULL AND c.customer_id > %(after)s
ORDER BY c.customer_id LIMIT %(limit)s
