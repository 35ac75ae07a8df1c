SELECT c.customer_id FROM customers c
WHERE c.breaker_scope IS NOT NULL AND c.merged_into IS NULL
ORDER BY c.customer_id
