-- Everything that a report shows about the affected customers, from one pass over the mails.
SELECT
    (
        SELECT json_build_object(
            'customers', count(*), 'mails', coalesce(sum(a.mails), 0),
            'observed', coalesce(sum(a.observed), 0), 'most_mails', max(a.mails),
            'most_in_a_day', max(a.most), 'first_at', min(a.first_at), 'last_at', max(a.last_at),
            'over_at', min(a.over_at),
            'first_customer', (array_agg(a.owner_id ORDER BY a.over_at, a.owner_id))[1])
        FROM affected a
    ),
    (
        SELECT json_agg(t.customer ORDER BY t.place)
        FROM (
            SELECT row_number() OVER (ORDER BY a.mails DESC, a.owner_id) AS place,
                json_build_object(
                    'customer_id', a.owner_id, 'mails', a.mails, 'observed', a.observed, 'most', a.most,
                    'first_at', a.first_at, 'last_at', a.last_at, 'over_at', a.over_at,
                    'also_known_as', ARRAY(
                        SELECT m.customer_id FROM merged m WHERE m.owner_id = a.owner_id
                        ORDER BY m.customer_id)) AS customer
            FROM affected a ORDER BY a.mails DESC, a.owner_id LIMIT %(customers)s
        ) t
    ),
    (
        SELECT json_agg(t.sender ORDER BY t.place)
        FROM (
            SELECT row_number() OVER (ORDER BY count(*) DESC, r.sender) AS place,
                json_build_object(
                    'sender', r.sender, 'mails', count(*), 'first_at', min(r.at),
                    'last_at', max(r.at)) AS sender
            FROM received r GROUP BY r.sender ORDER BY 1 LIMIT %(senders)s
        ) t
    ),
    -- Mails per time span, for each of the customers with the most mails, and for the rest (null).
    (
        SELECT json_agg(json_build_array(t.owner_id, t.span, t.mails))
        FROM (
            SELECT t.owner_id, floor(extract(epoch FROM r.at - %(from)s) / %(seconds)s)::integer AS span,
                count(*) AS mails
            FROM received r
            LEFT JOIN (
                SELECT a.owner_id FROM affected a ORDER BY a.mails DESC, a.owner_id LIMIT %(top)s
            ) t USING (owner_id)
            GROUP BY 1, 2
        ) t
    ),
    -- The pages about affected customers since the window began, by kind.
    (
        SELECT json_agg(t.kind ORDER BY t.first_at)
        FROM (
            SELECT min(a.raised_at) AS first_at,
                json_build_object(
                    'kind', a.kind, 'count', count(*), 'first_at', min(a.raised_at),
                    'first_customer', (array_agg(a.customer_id ORDER BY a.alert_id))[1],
                    'delivered', count(a.delivered_at), 'first_delivered_at', min(a.delivered_at),
                    'first_acked_at', min(a.acked_at),
                    'acked_by', (array_agg(a.acked_by ORDER BY a.acked_at)
                        FILTER (WHERE a.acked_at IS NOT NULL))[1]) AS kind
            FROM alerts a
            WHERE a.partition = 0 AND NOT a.drill AND a.raised_at >= %(from)s
                AND a.raised_at <= %(until)s
                AND owner_of(a.customer_id) IN (SELECT f.owner_id FROM affected f)
            GROUP BY a.kind
        ) t
    )
