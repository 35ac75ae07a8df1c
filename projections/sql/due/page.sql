-- Customers with something newly due, with what there is to tell of them and of their invoices.
SELECT head.as_of, picked.due_at, picked.debtor_id, a.email, picked.code, picked.available_at, v.invoices
FROM (
    SELECT min(g.position) AS as_of
    FROM projections p JOIN projection_generations g USING (partition, name, generation)
    WHERE p.partition = 0 AND p.name IN ('customers', 'invoices')
) head
LEFT JOIN LATERAL (
    {picked}
) picked ON true
LEFT JOIN LATERAL (
    SELECT json_agg(
        json_build_object(
            'invoice_id', i.invoice_id, 'cycle', i.cycle, 'stage', s.stage,
            'days_past_due', (%(now)s AT TIME ZONE i.zone)::date - i.starts_on,
            'amount_remaining', i.balance, 'currency', i.currency)
        ORDER BY i.due_at, i.invoice_id) AS invoices
    FROM invoices i
    CROSS JOIN policy p
    CROSS JOIN LATERAL (SELECT due_stage(i, p, %(now)s) AS stage OFFSET 0) s
    WHERE i.debtor_id = picked.debtor_id AND i.due_at <= %(now)s
        AND s.stage = ANY (coalesce(%(stages)s::text[], ARRAY[s.stage]))
        -- Not where the customer's credit covers all that is open in the currency.
        AND CASE WHEN picked.credits <> '{{}}' THEN available_credit(picked.credits, i.currency) < (
            SELECT sum(o.balance) FROM invoices o
            WHERE o.debtor_id = i.debtor_id AND o.currency = i.currency) IS NOT FALSE ELSE true END
) v ON true
LEFT JOIN LATERAL (
    SELECT a.address AS email FROM contacts a
    WHERE a.partition = 0 AND a.fingerprint = picked.fingerprint
    ORDER BY (a.customer_id = picked.debtor_id) DESC, a.customer_id
    LIMIT 1
) a ON true
ORDER BY picked.due_at, picked.debtor_id
