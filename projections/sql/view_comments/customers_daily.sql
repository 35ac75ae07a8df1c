COMMENT ON VIEW analytics.customers_daily IS
    'The mails of each customer on each day, one row for each pair that has a mail.';
COMMENT ON COLUMN analytics.customers_daily.day IS 'The UTC day from which the mails count.';
COMMENT ON COLUMN analytics.customers_daily.customer_id IS 'The customer who answers for them now, after merges.';
COMMENT ON COLUMN analytics.customers_daily.mail_count IS 'Mails of all lanes that went out or may have gone out.';
COMMENT ON COLUMN analytics.customers_daily.outreach_count IS 'Those of them in the lane outreach.';
COMMENT ON COLUMN analytics.customers_daily.reminder_count IS 'Those of them that reminded of invoices.';
COMMENT ON COLUMN analytics.customers_daily.observed_count IS 'Those of them that went out past the ledger.';
COMMENT ON COLUMN analytics.customers_daily.unknown_count IS
    'Those of them of which nobody knows whether they went out.';
