-- Every payment and every credit of an invoice, one row each, as the latest word on it is.
SELECT p.originator_id AS invoice_key, i.invoice_id,
    i.customer_id, coalesce(m.owner_id, i.customer_id) AS owner_customer_id,
    p.payment_id, p.is_credit, p.state, p.amount AS amount_minor_units, i.currency,
    p.at AS state_at, p.first_at, p.succeeded_at, p.reversed_at, p.position AS log_position
FROM {analytics}.payments p
JOIN {invoices}.invoices i ON i.originator_id = p.originator_id
LEFT JOIN {customers}.merged m ON m.customer_id = i.customer_id
