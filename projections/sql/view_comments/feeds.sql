COMMENT ON VIEW analytics.feeds IS
    'Every source of facts, one row each; counts may lack the last seconds.';
COMMENT ON COLUMN analytics.feeds.source IS 'The name that its facts carry.';
COMMENT ON COLUMN analytics.feeds.first_heard_at IS 'When it was heard first (UTC).';
COMMENT ON COLUMN analytics.feeds.last_heard_at IS 'When it was heard last (UTC).';
COMMENT ON COLUMN analytics.feeds.silent_since_at IS
    'Since when the log says that it is silent (UTC); null while it is heard.';
COMMENT ON COLUMN analytics.feeds.is_about_money IS 'It has told of invoices, payments or credits.';
COMMENT ON COLUMN analytics.feeds.applied_count IS 'Facts that were taken in.';
COMMENT ON COLUMN analytics.feeds.duplicate_count IS 'Facts that were known.';
COMMENT ON COLUMN analytics.feeds.stale_count IS 'Facts that were older than what is known.';
COMMENT ON COLUMN analytics.feeds.ignored_count IS 'Facts that changed nothing.';
COMMENT ON COLUMN analytics.feeds.rejected_count IS 'Facts that could not be used.';
