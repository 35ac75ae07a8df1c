-- What each sender asked and mailed on each day, one row for each pair with a request or a mail.
SELECT f.day, f.sender,
    sum(f.requests)::bigint AS request_count,
    sum(f.granted)::bigint AS granted_count,
    sum(f.denied)::bigint AS denied_count,
    sum(f.duplicates)::bigint AS duplicate_count,
    sum(f.concurrent)::bigint AS concurrent_count,
    sum(f.sent)::bigint AS sent_count,
    sum(f.rejected)::bigint AS rejected_count,
    sum(f.unknown)::bigint AS unknown_count,
    sum(f.observed)::bigint AS observed_count
FROM (
    SELECT (d.decided_at AT TIME ZONE 'UTC')::date AS day, d.sender,
        count(*) + coalesce(sum((d.answer ->> 'repeats')::integer - 1)
            FILTER (WHERE d.code IS NOT NULL), 0) AS requests,
        count(*) FILTER (WHERE d.status < 300 AND NOT d.replayed) AS granted,
        coalesce(sum(coalesce((d.answer ->> 'repeats')::integer, 1))
            FILTER (WHERE d.code IS NOT NULL), 0) AS denied,
        coalesce(sum(coalesce((d.answer ->> 'repeats')::integer, 1)) FILTER (WHERE d.code IN (
            'already_sent', 'duplicate_intent', 'similar_intent', 'already_replied',
            'apology_already_sent')), 0) AS duplicates,
        coalesce(sum(coalesce((d.answer ->> 'repeats')::integer, 1)) FILTER (WHERE d.code IN (
            'permit_held', 'outcome_unknown', 'already_redeemed')), 0) AS concurrent,
        0 AS sent, 0 AS rejected, 0 AS unknown, 0 AS observed
    FROM {ledger}.decisions d
    WHERE d.partition = 0 AND d.operation = 'permit'
        AND (d.customer_id IS NULL OR NOT starts_with(d.customer_id, 'ledger-probe-'))
    GROUP BY 1, 2
    UNION ALL
    SELECT (m.granted_at AT TIME ZONE 'UTC')::date, m.sender, 0, 0, 0, 0, 0,
        count(*) FILTER (WHERE m.state = 'sent' AND NOT m.observed),
        count(*) FILTER (WHERE m.state = 'rejected'),
        count(*) FILTER (WHERE m.state = 'unknown'),
        count(*) FILTER (WHERE m.observed)
    FROM {customers}.mails m
    GROUP BY 1, 2
) f
GROUP BY 1, 2
