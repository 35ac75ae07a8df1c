-- Customers with something newly due, those who wait longest first; each customer stands where the
-- first of their invoices does.
SELECT head.as_of, listed.*
FROM (
    SELECT min(g.position) AS as_of
    FROM projections p JOIN projection_generations g USING (partition, name, generation)
    WHERE p.partition = 0 AND p.name IN ('customers', 'invoices')
) head
LEFT JOIN LATERAL (
    SELECT page.due_at, page.debtor_id, a.email, w.code, w.available_at, v.invoices
    FROM (
        SELECT DISTINCT ON (i.due_at, i.debtor_id) i.due_at, i.debtor_id
        FROM invoices i
        WHERE i.due_at <= %(now)s
            AND (i.due_at, i.debtor_id) > (%(after_at)s::timestamptz, %(after_id)s)
            AND i.due_at = (SELECT min(j.due_at) FROM invoices j WHERE j.debtor_id = i.debtor_id)
        ORDER BY i.due_at, i.debtor_id
    ) page
    LEFT JOIN LATERAL (
        SELECT x.* FROM customers x WHERE x.customer_id = page.debtor_id OFFSET 0
    ) c ON true
    CROSS JOIN LATERAL (
        SELECT count(*)::integer AS used, array_agg(t.at ORDER BY t.at) AS times
        FROM (
            SELECT counts_at(m, %(now)s) AS at FROM mails m
            WHERE m.owner_id = page.debtor_id AND m.send_by > %(now)s - interval '24 hours'
                AND m.lane IN ('outreach', 'apology')
        ) t
        WHERE t.at > %(now)s - interval '24 hours'
    ) counted
    -- In the order of the guards (design D12).
    CROSS JOIN LATERAL (
        SELECT 'on_hold' AS code, CASE WHEN NOT c.held_indefinitely THEN c.held_until END AS available_at
        WHERE c.held_indefinitely OR c.held_until > %(now)s
        UNION ALL
        SELECT 'address_on_hold', NULL WHERE c.held_addresses ? c.addresses[1]
        UNION ALL
        SELECT 'breaker_open', NULL WHERE c.breaker_scope IS NOT NULL
        UNION ALL
        SELECT 'cap_reached', counted.times[counted.used - %(outreach_per_day)s + 1] + interval '24 hours'
        WHERE counted.used >= %(outreach_per_day)s
        UNION ALL
        SELECT NULL, NULL
        LIMIT 1
    ) w
    CROSS JOIN LATERAL (
        SELECT json_agg(
            json_build_object(
                'invoice_id', i.invoice_id, 'cycle', i.cycle, 'stage', s.stage,
                'days_past_due', (%(now)s AT TIME ZONE i.zone)::date - i.starts_on,
                'amount_remaining', i.balance, 'currency', i.currency)
            ORDER BY i.due_at, i.invoice_id) AS invoices
        FROM invoices i
        CROSS JOIN policy p
        CROSS JOIN LATERAL (
            SELECT p.stage_names[rung] AS stage, coalesce(rung = ANY (i.refused_rungs), false) AS refused
            FROM unnest(i.rungs) rung
            WHERE i.starts_on + p.stage_days[rung] <= (%(now)s AT TIME ZONE i.zone)::date
            ORDER BY CASE p.catch_up WHEN 'highest' THEN -rung ELSE rung END
            LIMIT 1
        ) s
        WHERE i.debtor_id = page.debtor_id AND i.due_at <= %(now)s AND NOT s.refused
            AND (%(stage)s::text IS NULL OR s.stage = %(stage)s)
    ) v
    LEFT JOIN LATERAL (
        SELECT a.address AS email FROM contacts a
        WHERE a.partition = 0 AND a.fingerprint = c.addresses[1]
        ORDER BY (a.customer_id = page.debtor_id) DESC, a.customer_id
        LIMIT 1
    ) a ON true
    WHERE v.invoices IS NOT NULL AND (w.code IS NULL OR NOT %(ready)s)
    ORDER BY page.due_at, page.debtor_id
    LIMIT %(limit)s
) listed ON true
ORDER BY listed.due_at, listed.debtor_id
