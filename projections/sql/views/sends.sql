-- Every permit and every mail that went out past the ledger, one row each.
-- What it was about is joined last: the planner leaves that out of queries that ask nothing of it.
SELECT m.permit_id, m.kind, m.lane, m.sender,
    m.customer_id, m.owner_id AS owner_customer_id,
    m.state, m.observed AS is_observed, m.dunning AS is_reminder,
    m.redeem_required AS is_redeem_required,
    m.granted_at, m.redeemed_at, m.settled_at, m.send_by AS send_by_at,
    -- `counts_at(mails)`, written out: a function would be looked up on the analyst's search path.
    CASE m.state
        WHEN 'rejected' THEN NULL
        WHEN 'expired' THEN NULL
        WHEN 'revoked' THEN
            coalesce(m.redeemed_at, CASE WHEN NOT m.redeem_required THEN m.granted_at END)
        WHEN 'unknown' THEN greatest(m.send_by, coalesce(m.redeemed_at, m.granted_at))
        WHEN 'sent' THEN
            greatest(coalesce(m.redeemed_at, m.granted_at), least(m.settled_at, m.send_by))
        ELSE coalesce(m.redeemed_at, m.granted_at) END AS counts_at,
    (m.granted_at AT TIME ZONE 'UTC')::date AS granted_day,
    extract(epoch FROM m.redeemed_at - m.granted_at)::double precision AS redeemed_after_seconds,
    extract(epoch FROM m.settled_at - m.granted_at)::double precision AS settled_after_seconds,
    coalesce(p.doc -> 'items' -> 0 ->> 'invoice_id', p.doc ->> 'invoice_id', o.invoice_id)
        AS invoice_id,
    (p.doc -> 'items' -> 0 ->> 'cycle')::integer AS cycle,
    p.doc -> 'items' -> 0 ->> 'stage' AS stage,
    coalesce(json_array_length(p.doc -> 'items'), 0) AS invoice_count,
    coalesce(p.doc ->> 'thread_id', o.thread_id) AS thread_id,
    coalesce(p.doc ->> 'incident_id', o.incident_id) AS incident_id
FROM {customers}.mails m
LEFT JOIN {ledger}.permits p ON p.partition = 0 AND p.permit_id = m.permit_id
LEFT JOIN {analytics}.observed_mails o ON o.permit_id = m.permit_id
