COMMENT ON VIEW analytics.invoices IS
    'Every invoice as it stands, one row each.';
COMMENT ON COLUMN analytics.invoices.invoice_key IS
    'The id of the invoice in the log; joins `invoices`, `stages` and `payments`.';
COMMENT ON COLUMN analytics.invoices.invoice_id IS 'The id of the billing system.';
COMMENT ON COLUMN analytics.invoices.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.invoices.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.invoices.currency IS 'ISO 4217; null before the first snapshot.';
COMMENT ON COLUMN analytics.invoices.total_minor_units IS 'What was billed, in minor units of the currency.';
COMMENT ON COLUMN analytics.invoices.balance_minor_units IS 'What is owed, in minor units of the currency.';
COMMENT ON COLUMN analytics.invoices.status IS 'draft, open, paid, void or uncollectible.';
COMMENT ON COLUMN analytics.invoices.issued_on IS 'The date of issue in the invoice''s time zone.';
COMMENT ON COLUMN analytics.invoices.due_on IS 'The due date in the invoice''s time zone.';
COMMENT ON COLUMN analytics.invoices.time_zone IS 'The IANA time zone that it is billed in.';
COMMENT ON COLUMN analytics.invoices.cycle IS
    'The past-due cycle, from 1: each time that it becomes past due again is a new one.';
COMMENT ON COLUMN analytics.invoices.past_due_from IS
    'The date from which the age of this cycle counts; null: it cannot be past due.';
COMMENT ON COLUMN analytics.invoices.is_held_indefinitely IS 'Dunning is on hold without an end.';
COMMENT ON COLUMN analytics.invoices.held_until IS 'Until when dunning is on hold (UTC).';
COMMENT ON COLUMN analytics.invoices.payment_in_flight_until IS
    'Until when a payment on its way holds reminders back (UTC).';
COMMENT ON COLUMN analytics.invoices.last_reminder_at IS 'When the latest reminder was permitted or sent (UTC).';
COMMENT ON COLUMN analytics.invoices.newly_due_at IS
    'From when on a stage is newly due (UTC), if nothing changes; null: none.';
COMMENT ON COLUMN analytics.invoices.snapshot_at IS 'When the latest snapshot is of (UTC).';
COMMENT ON COLUMN analytics.invoices.source IS 'Who told the latest snapshot.';
