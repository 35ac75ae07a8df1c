COMMENT ON VIEW analytics.payments IS
    'Every payment and every credit of an invoice, one row each, as the latest word on it is.';
COMMENT ON COLUMN analytics.payments.invoice_key IS
    'The id of the invoice in the log; joins `invoices`, `stages` and `payments`.';
COMMENT ON COLUMN analytics.payments.invoice_id IS 'The id of the billing system.';
COMMENT ON COLUMN analytics.payments.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.payments.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.payments.payment_id IS 'The id of the payment or credit at the provider.';
COMMENT ON COLUMN analytics.payments.is_credit IS 'A credit on the invoice, no payment.';
COMMENT ON COLUMN analytics.payments.state IS
    'pending, succeeded, failed or reversed; of a credit: credit or credit_taken_back.';
COMMENT ON COLUMN analytics.payments.amount_minor_units IS
    'The amount of the latest word, in minor units; negative for a credit taken back.';
COMMENT ON COLUMN analytics.payments.currency IS
    'The currency of the invoice, ISO 4217; null before its first snapshot.';
COMMENT ON COLUMN analytics.payments.state_at IS 'When it came to that state (UTC).';
COMMENT ON COLUMN analytics.payments.first_at IS 'The earliest time that anything was said of (UTC).';
COMMENT ON COLUMN analytics.payments.succeeded_at IS
    'When it first succeeded, or the credit was given (UTC); null: it never did.';
COMMENT ON COLUMN analytics.payments.reversed_at IS 'When it was last returned or taken back (UTC).';
COMMENT ON COLUMN analytics.payments.log_position IS 'The position of the log at which it was told last.';
