COMMENT ON VIEW analytics.senders_daily IS
    'What each sender asked and mailed on each day, one row for each pair with a request or a mail.';
COMMENT ON COLUMN analytics.senders_daily.day IS 'The UTC day of the decision, or of the grant of the mail.';
COMMENT ON COLUMN analytics.senders_daily.sender IS 'The name of the API key, or what was said of an observed mail.';
COMMENT ON COLUMN analytics.senders_daily.request_count IS 'Requests for permits.';
COMMENT ON COLUMN analytics.senders_daily.granted_count IS 'Those that got a new yes.';
COMMENT ON COLUMN analytics.senders_daily.denied_count IS 'Those that got a no.';
COMMENT ON COLUMN analytics.senders_daily.duplicate_count IS
    'Those of the denied ones whose send had been made already.';
COMMENT ON COLUMN analytics.senders_daily.concurrent_count IS
    'Those of the denied ones for whose send another permit was live or of unknown outcome.';
COMMENT ON COLUMN analytics.senders_daily.sent_count IS 'Permits of the day whose mail was sent.';
COMMENT ON COLUMN analytics.senders_daily.rejected_count IS 'Permits of the day whose mail was refused.';
COMMENT ON COLUMN analytics.senders_daily.unknown_count IS
    'Permits of the day of which nobody knows whether the mail went out.';
COMMENT ON COLUMN analytics.senders_daily.observed_count IS 'Mails of the day that went out past the ledger.';
