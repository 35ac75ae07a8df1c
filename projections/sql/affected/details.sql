-- The permits and decisions of these customers within the window: the first ones and the count.
SELECT wanted.owner_id, p.permits, p.count, d.decisions, d.count
FROM unnest(%(owners)s::text[]) AS wanted (owner_id)
CROSS JOIN LATERAL (
    SELECT count(*), coalesce(json_agg(t.permit ORDER BY t.place) FILTER (WHERE t.place <= %(most)s), '[]')
        AS permits
    FROM (
        SELECT row_number() OVER (ORDER BY m.granted_at, m.permit_id) AS place,
            json_build_object(
                'permit_id', m.permit_id, 'kind', m.kind, 'state', m.state, 'sender', m.sender,
                'granted_at', m.granted_at) AS permit
        FROM mails m
        WHERE m.owner_id = wanted.owner_id AND m.send_by >= %(from)s AND m.granted_at < %(to)s
            AND m.lane = 'outreach' AND NOT m.observed
            AND counts_at(m, %(now)s) >= %(from)s AND counts_at(m, %(now)s) < %(to)s
    ) t
) p
CROSS JOIN LATERAL (
    SELECT count(*), coalesce(json_agg(t.decision ORDER BY t.place) FILTER (WHERE t.place <= %(most)s), '[]')
        AS decisions
    FROM (
        SELECT row_number() OVER (ORDER BY l.decided_at, l.decision_id) AS place,
            json_build_object(
                'decision_id', l.decision_id, 'decided_at', l.decided_at, 'operation', l.operation,
                'sender', l.sender, 'status', l.status, 'code', l.code) AS decision
        FROM unnest(
            ARRAY(SELECT m.customer_id FROM merged m WHERE m.owner_id = wanted.owner_id)
            || wanted.owner_id) AS known (customer_id)
        CROSS JOIN LATERAL (
            SELECT d.* FROM decisions d
            WHERE d.partition = 0 AND d.customer_id = known.customer_id
                AND d.decided_at >= %(from)s AND d.decided_at < %(to)s
            OFFSET 0
        ) l
    ) t
) d
