COMMENT ON VIEW analytics.stages IS
    'Every stage on record of every invoice, one row each.';
COMMENT ON COLUMN analytics.stages.invoice_key IS
    'The id of the invoice in the log; joins `invoices`, `stages` and `payments`.';
COMMENT ON COLUMN analytics.stages.invoice_id IS 'The id of the billing system.';
COMMENT ON COLUMN analytics.stages.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.stages.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.stages.cycle IS 'The past-due cycle, from 1.';
COMMENT ON COLUMN analytics.stages.stage IS 'The name of the stage in the policy.';
COMMENT ON COLUMN analytics.stages.state IS 'permitted, sent, unknown, bounced, or superseded by a later stage.';
COMMENT ON COLUMN analytics.stages.recorded_at IS 'When it was permitted, or the mail was sent (UTC).';
COMMENT ON COLUMN analytics.stages.permit_id IS
    'The permit that holds it; null for a mail that went out past the ledger.';
