COMMENT ON VIEW analytics.decisions IS
    'Every answer to a request for a permit and to a redeem, one row each.';
COMMENT ON COLUMN analytics.decisions.decision_id IS 'The id that the answer had.';
COMMENT ON COLUMN analytics.decisions.decided_at IS
    'When it was decided (UTC); the decision log is in parts by month of it.';
COMMENT ON COLUMN analytics.decisions.decided_day IS 'The day of `decided_at` in UTC.';
COMMENT ON COLUMN analytics.decisions.log_position IS 'The position of the log after its events.';
COMMENT ON COLUMN analytics.decisions.operation IS 'permit or redeem.';
COMMENT ON COLUMN analytics.decisions.sender IS 'The name of the API key that asked.';
COMMENT ON COLUMN analytics.decisions.key_id IS 'The id of that key.';
COMMENT ON COLUMN analytics.decisions.kind IS 'The kind of mail that was asked for; null for a redeem.';
COMMENT ON COLUMN analytics.decisions.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.decisions.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.decisions.invoice_id IS 'The invoice that was asked about; of several the first.';
COMMENT ON COLUMN analytics.decisions.thread_id IS 'The thread that was asked about.';
COMMENT ON COLUMN analytics.decisions.http_status IS 'The status of the answer.';
COMMENT ON COLUMN analytics.decisions.code IS 'The code of the denial; null for a yes.';
COMMENT ON COLUMN analytics.decisions.is_granted IS 'A new yes: neither a denial nor an earlier answer repeated.';
COMMENT ON COLUMN analytics.decisions.is_replay IS
    'An earlier answer, repeated for the same Idempotency-Key or attempt.';
COMMENT ON COLUMN analytics.decisions.request_count IS
    'How many requests this row stands for: equal denials within a minute are counted in one.';
COMMENT ON COLUMN analytics.decisions.policy_version IS 'The version of the policy that it was decided by.';
