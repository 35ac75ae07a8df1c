SELECT c.customer_id FROM customers c
WHERE c.breaker_scope IS NOT NULL AND c.merged_into IS NULL
    AND (%(since)s::timestamptz IS NULL OR c.breaker_opened_at >= %(since)s)
ORDER BY c.customer_id
