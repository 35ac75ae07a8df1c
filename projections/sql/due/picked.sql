-- Up to `limit` customers with something newly due, those who wait longest first, with who cannot be
-- mailed now; each stands where the first of their listed invoices does.
SELECT page.due_at, page.debtor_id, c.addresses[1] AS fingerprint, w.code, w.available_at, c.credits
FROM (
    SELECT DISTINCT ON (i.due_at, i.debtor_id) i.due_at, i.debtor_id
    FROM invoices i CROSS JOIN policy p
    WHERE i.due_at <= %(now)s
        AND i.debtor_id NOT IN (SELECT json_array_elements_text(%(passing_over)s::json) COLLATE "C")
        AND (i.due_at, i.debtor_id) > (%(after_at)s::timestamptz, %(after_id)s)
        AND (%(customers)s::text[] IS NULL OR i.debtor_id LIKE ANY (%(customers)s::text[]))
        AND CASE WHEN %(stages)s::text[] IS NULL THEN due_stage(i, p, %(now)s) IS NOT NULL
            ELSE due_stage(i, p, %(now)s) = ANY (%(stages)s::text[]) END
        AND i.due_at = (
            SELECT j.due_at FROM invoices j
            WHERE j.debtor_id = i.debtor_id AND j.due_at <= %(now)s
                AND CASE WHEN %(stages)s::text[] IS NULL THEN due_stage(j, p, %(now)s) IS NOT NULL
                    ELSE due_stage(j, p, %(now)s) = ANY (%(stages)s::text[]) END
                AND CASE WHEN (SELECT EXISTS (SELECT FROM customers WHERE credits <> '{}')) THEN (
                    -- The customer's credit covers all that is open in the currency.
                    SELECT available_credit(r.credits, j.currency) >= (
                        SELECT sum(o.balance) FROM invoices o
                        WHERE o.debtor_id = j.debtor_id AND o.currency = j.currency)
                    FROM customers r
                    WHERE r.customer_id = j.debtor_id AND r.credits <> '{}') IS NOT TRUE ELSE true END
            ORDER BY j.due_at LIMIT 1
        )
    ORDER BY i.due_at, i.debtor_id
) page
LEFT JOIN LATERAL (
    SELECT x.* FROM customers x WHERE x.customer_id = page.debtor_id OFFSET 0
) c ON true
LEFT JOIN LATERAL (
    SELECT h.* FROM held_addresses h WHERE h.fingerprint = c.addresses[1] OFFSET 0
) a ON true
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS used, array_agg(t.at ORDER BY t.at) AS times
    FROM (
        SELECT counts_at(m, %(now)s) AS at FROM mails m
        WHERE m.owner_id = page.debtor_id AND m.send_by > %(now)s - interval '24 hours'
            AND m.lane IN ('outreach', 'apology')
    ) t
    WHERE t.at > %(now)s - interval '24 hours'
) counted
CROSS JOIN LATERAL (
    SELECT CASE WHEN %(reminder_gap_days)s::integer > 1 THEN (
        SELECT local_midnight(
            (max(counts_at(m, %(now)s)) AT TIME ZONE p.time_zone)::date
                + %(reminder_gap_days)s::integer,
            p.time_zone)
        FROM policy p
        LEFT JOIN mails m ON m.owner_id = page.debtor_id AND m.dunning
            AND m.send_by > %(now)s - interval '1 day' * (%(reminder_gap_days)s::integer + 2)
        GROUP BY p.time_zone
    ) END AS free_at
) reminded
-- In the order of the guards (design D12).
CROSS JOIN LATERAL (
    SELECT 'on_hold' AS code, CASE WHEN NOT c.held_indefinitely THEN c.held_until END AS available_at
    WHERE c.held_indefinitely OR c.held_until > %(now)s
    UNION ALL
    SELECT 'on_hold', CASE WHEN NOT a.unsubscribed_indefinitely THEN a.unsubscribed_until END
    WHERE a.unsubscribed_indefinitely OR a.unsubscribed_until > %(now)s
    UNION ALL
    SELECT 'address_on_hold', CASE WHEN NOT a.suppressed_indefinitely THEN a.suppressed_until END
    WHERE a.suppressed_indefinitely OR a.suppressed_until > %(now)s
    UNION ALL
    SELECT 'address_on_hold', NULL WHERE c.held_addresses ? c.addresses[1]
    UNION ALL
    SELECT 'breaker_open', NULL WHERE c.breaker_scope IS NOT NULL
    UNION ALL
    SELECT 'reminded_recently', reminded.free_at WHERE reminded.free_at > %(now)s
    UNION ALL
    SELECT 'cap_reached', counted.times[counted.used - %(outreach_per_day)s + 1] + interval '24 hours'
    WHERE counted.used >= %(outreach_per_day)s
    UNION ALL
    SELECT NULL, NULL
    LIMIT 1
) w
WHERE w.code IS NULL OR NOT %(ready)s
ORDER BY page.due_at, page.debtor_id
LIMIT %(limit)s
