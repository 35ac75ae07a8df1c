COMMENT ON VIEW analytics.threads IS
    'Every mail thread, one row each.';
COMMENT ON COLUMN analytics.threads.thread_id IS 'The id that was told.';
COMMENT ON COLUMN analytics.threads.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.threads.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.threads.created_at IS 'When the ledger heard of it first (UTC).';
COMMENT ON COLUMN analytics.threads.inbound_count IS 'Messages that came in.';
COMMENT ON COLUMN analytics.threads.outbound_count IS 'Messages that went out, as they were seen.';
COMMENT ON COLUMN analytics.threads.automatic_count IS 'Messages of either direction that a machine wrote.';
COMMENT ON COLUMN analytics.threads.first_message_at IS 'The time of the first message (UTC); null: none was seen.';
COMMENT ON COLUMN analytics.threads.last_message_at IS 'The time of the last message (UTC).';
COMMENT ON COLUMN analytics.threads.log_position IS 'The position of the log at which it was told last.';
