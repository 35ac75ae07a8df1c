COMMENT ON VIEW analytics.sends IS
    'Every permit and every mail that went out past the ledger, one row each.';
COMMENT ON COLUMN analytics.sends.permit_id IS 'The permit, or the id under which a mail without one is kept.';
COMMENT ON COLUMN analytics.sends.kind IS
    'The kind of mail: reminder, reply, notification …; `observed`: it went out past the ledger.';
COMMENT ON COLUMN analytics.sends.lane IS
    'The rolling windows in which it counts: outreach, reply, transactional or apology.';
COMMENT ON COLUMN analytics.sends.sender IS 'The name of the API key that asked, or what was said of an observed mail.';
COMMENT ON COLUMN analytics.sends.customer_id IS
    'The customer as it was told or asked, before merges; null where nobody is known.';
COMMENT ON COLUMN analytics.sends.owner_customer_id IS
    'The customer who answers for it now, after merges; null where nobody is known.';
COMMENT ON COLUMN analytics.sends.state IS
    'granted, redeemed, sent, rejected, unknown, revoked or expired, as the log has it.';
COMMENT ON COLUMN analytics.sends.is_observed IS 'It went out without a permit.';
COMMENT ON COLUMN analytics.sends.is_reminder IS 'It reminded of invoices, by a permit or past the ledger.';
COMMENT ON COLUMN analytics.sends.is_redeem_required IS 'The sender had to redeem it before hand-over.';
COMMENT ON COLUMN analytics.sends.granted_at IS 'When it was permitted (UTC); for an observed mail, when it went out.';
COMMENT ON COLUMN analytics.sends.redeemed_at IS 'When the sender was about to hand it over (UTC).';
COMMENT ON COLUMN analytics.sends.settled_at IS 'When its outcome was told (UTC).';
COMMENT ON COLUMN analytics.sends.send_by_at IS 'When it lapses unless it is settled (UTC).';
COMMENT ON COLUMN analytics.sends.counts_at IS
    'From when it counts in rolling windows (UTC); null: provably no mail went out.';
COMMENT ON COLUMN analytics.sends.granted_day IS 'The day of `granted_at` in UTC.';
COMMENT ON COLUMN analytics.sends.redeemed_after_seconds IS 'Seconds from grant to redeem.';
COMMENT ON COLUMN analytics.sends.settled_after_seconds IS 'Seconds from grant to outcome.';
COMMENT ON COLUMN analytics.sends.invoice_id IS 'The invoice that it names; of several the first.';
COMMENT ON COLUMN analytics.sends.cycle IS
    'The past-due cycle of that invoice, from 1; null where it is no reminder by a permit.';
COMMENT ON COLUMN analytics.sends.stage IS 'The stage of that invoice; null where it is no reminder by a permit.';
COMMENT ON COLUMN analytics.sends.invoice_count IS 'How many invoices a reminder names.';
COMMENT ON COLUMN analytics.sends.thread_id IS 'The mail thread, where it is of one.';
COMMENT ON COLUMN analytics.sends.incident_id IS 'The incident that it apologises for.';
