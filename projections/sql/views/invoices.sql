-- Every invoice as it stands, one row each.
SELECT i.originator_id AS invoice_key, i.invoice_id,
    i.customer_id, coalesce(m.owner_id, i.customer_id) AS owner_customer_id,
    i.currency, i.total AS total_minor_units, i.balance AS balance_minor_units, i.status,
    i.issued_on, i.due_on, i.zone AS time_zone, i.cycle, i.starts_on AS past_due_from,
    i.held_indefinitely AS is_held_indefinitely, i.held_until,
    i.in_flight_until AS payment_in_flight_until,
    i.last_reminder_at, i.due_at AS newly_due_at, i.observed_at AS snapshot_at, i.source
FROM {invoices}.invoices i
LEFT JOIN {customers}.merged m ON m.customer_id = i.customer_id
