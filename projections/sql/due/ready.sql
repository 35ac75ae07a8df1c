-- Customers with something newly due who can be mailed now, and the ids of their invoices.
SELECT picked.due_at, picked.debtor_id, v.invoices
FROM (
    {picked}
) picked
CROSS JOIN LATERAL (
    SELECT array_agg(i.invoice_id ORDER BY i.due_at, i.invoice_id) AS invoices
    FROM invoices i
    CROSS JOIN policy p
    CROSS JOIN LATERAL (SELECT due_stage(i, p, %(now)s) AS stage OFFSET 0) s
    WHERE i.debtor_id = picked.debtor_id AND i.due_at <= %(now)s
        AND s.stage = ANY (coalesce(%(stages)s::text[], ARRAY[s.stage]))
        -- Not where the customer's credit covers all that is open in the currency.
        AND CASE WHEN picked.credits <> '{{}}' THEN available_credit(picked.credits, i.currency) < (
            SELECT sum(o.balance) FROM invoices o
            WHERE o.debtor_id = i.debtor_id AND o.currency = i.currency) IS NOT FALSE ELSE true END
) v
ORDER BY picked.due_at, picked.debtor_id
