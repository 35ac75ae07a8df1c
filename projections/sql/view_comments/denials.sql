COMMENT ON VIEW analytics.denials IS
    'Every no, one row each, and what it prevented.';
COMMENT ON COLUMN analytics.denials.decision_id IS 'The id that the answer had.';
COMMENT ON COLUMN analytics.denials.decided_at IS 'When it was decided (UTC).';
COMMENT ON COLUMN analytics.denials.decided_day IS 'The day of `decided_at` in UTC.';
COMMENT ON COLUMN analytics.denials.log_position IS 'The position of the log at the decision.';
COMMENT ON COLUMN analytics.denials.operation IS 'permit or redeem.';
COMMENT ON COLUMN analytics.denials.sender IS 'The name of the API key that asked.';
COMMENT ON COLUMN analytics.denials.key_id IS 'The id of that key.';
COMMENT ON COLUMN analytics.denials.kind IS 'The kind of mail that was asked for; null for a redeem.';
COMMENT ON COLUMN analytics.denials.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.denials.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.denials.invoice_id IS 'The invoice that was asked about; of several the first.';
COMMENT ON COLUMN analytics.denials.thread_id IS 'The thread that was asked about.';
COMMENT ON COLUMN analytics.denials.http_status IS 'The status of the answer.';
COMMENT ON COLUMN analytics.denials.code IS 'The code of the denial (docs/denials.md).';
COMMENT ON COLUMN analytics.denials.request_count IS
    'How many requests this row stands for: equal denials within a minute are counted in one.';
COMMENT ON COLUMN analytics.denials.is_duplicate IS
    'The send had been made already: the mail would have been a second one.';
COMMENT ON COLUMN analytics.denials.is_concurrent IS
    'Another permit for the send was live or of unknown outcome: the mail could have been a second one.';
COMMENT ON COLUMN analytics.denials.is_retryable IS 'The program may ask again by itself.';
COMMENT ON COLUMN analytics.denials.available_at IS 'From when on it may ask again (UTC), where that is known.';
COMMENT ON COLUMN analytics.denials.original_permit_id IS 'The permit of the send that it would have repeated.';
