-- The mails of each customer on each day, one row for each pair that has a mail.
SELECT (c.counts_at AT TIME ZONE 'UTC')::date AS day, c.owner_id AS customer_id,
    count(*) AS mail_count,
    count(*) FILTER (WHERE c.lane = 'outreach') AS outreach_count,
    count(*) FILTER (WHERE c.dunning) AS reminder_count,
    count(*) FILTER (WHERE c.observed) AS observed_count,
    count(*) FILTER (WHERE c.state = 'unknown') AS unknown_count
FROM (
    SELECT m.owner_id, m.lane, m.dunning, m.observed, m.state,
        CASE m.state
            WHEN 'rejected' THEN NULL
            WHEN 'expired' THEN NULL
            WHEN 'revoked' THEN
                coalesce(m.redeemed_at, CASE WHEN NOT m.redeem_required THEN m.granted_at END)
            WHEN 'unknown' THEN greatest(m.send_by, coalesce(m.redeemed_at, m.granted_at))
            WHEN 'sent' THEN
                greatest(coalesce(m.redeemed_at, m.granted_at), least(m.settled_at, m.send_by))
            ELSE coalesce(m.redeemed_at, m.granted_at) END AS counts_at
    FROM {customers}.mails m
) c
WHERE c.counts_at IS NOT NULL
GROUP BY 1, 2
