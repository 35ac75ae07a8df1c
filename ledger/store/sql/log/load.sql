-- Everything that a batch of decisions needs and the cache does not hold, in one statement.
-- LATERAL with OFFSET 0 forces one index probe for each item, even in a plan made while the tables
-- were empty. In such a plan `= ANY` scanned a whole index of a table that has two. The results are
-- ordered for the same reason: only the right index returns them in that order.
SELECT json_build_object(
    'now', ledger_now(),
    'position', (SELECT max(h.position) FROM events h WHERE h.partition = 0),
    'snapshots', (
        SELECT json_agg(json_build_array(s.originator_id, s.originator_version, s.topic, s.state))
        FROM unnest($1::uuid[]) AS wanted (id)
        CROSS JOIN LATERAL (
            SELECT n.* FROM snapshots n WHERE n.partition = 0 AND n.originator_id = wanted.id
            OFFSET 0
        ) AS s
    ),
    'events', (
        SELECT json_agg(
            json_build_array(e.originator_id, e.originator_version, e.topic, e.state)
            ORDER BY e.originator_id, e.originator_version
        )
        FROM unnest($1::uuid[]) AS wanted (id)
        CROSS JOIN LATERAL (
            SELECT v.originator_id, v.originator_version, v.topic, v.state
            FROM events v
            WHERE v.partition = 0
                AND v.originator_id = wanted.id
                AND v.originator_version > coalesce((
                    SELECT n.originator_version FROM snapshots n
                    WHERE n.partition = 0 AND n.originator_id = wanted.id
                        AND n.topic = ANY ($2::text[])
                ), 0)
            OFFSET 0
        ) AS e
    ),
    'permits', (
        SELECT json_agg(p.doc)
        FROM unnest($3::uuid[]) AS wanted (id)
        CROSS JOIN LATERAL (
            SELECT q.doc FROM permits q WHERE q.partition = 0 AND q.permit_id = wanted.id
            OFFSET 0
        ) AS p
    ),
    'names', (
        SELECT json_agg(json_build_array(wanted.kind, encode(n.name_hash, 'hex'), n.target))
        FROM unnest($4::text[], $5::bytea[]) AS wanted (kind, name_hash)
        CROSS JOIN LATERAL (
            SELECT m.name_hash, m.target FROM names m
            WHERE m.partition = 0 AND m.kind = wanted.kind AND m.name_hash = wanted.name_hash
            OFFSET 0
        ) AS n
    ),
    'bindings', (
        SELECT json_agg(json_build_array(
            encode(i.scope, 'hex'), encode(i.fingerprint, 'hex'), i.permit_id, i.created_at,
            i.status, encode(i.body, 'base64')
        ))
        FROM unnest($6::bytea[]) AS wanted (scope)
        CROSS JOIN LATERAL (
            SELECT b.* FROM idempotency b WHERE b.partition = 0 AND b.scope = wanted.scope
            OFFSET 0
        ) AS i
    ),
    'owned', (
        SELECT json_agg(json_build_array(o.customer_id, o.invoice_id) ORDER BY o.invoice_id)
        FROM unnest($7::text[]) AS wanted (customer_id)
        CROSS JOIN LATERAL (
            SELECT v.* FROM invoice_owners v
            WHERE v.partition = 0 AND v.customer_id = wanted.customer_id
            OFFSET 0
        ) AS o
    ),
    'contacts', (
        SELECT json_agg(json_build_array(c.fingerprint, c.customer_id, c.address))
        FROM unnest($8::text[]) AS wanted (fingerprint)
        CROSS JOIN LATERAL (
            SELECT k.* FROM contacts k WHERE k.partition = 0 AND k.fingerprint = wanted.fingerprint
            OFFSET 0
        ) AS c
    ),
    'answers', (
        SELECT json_agg(json_build_array(d.decision_id, d.answer))
        FROM unnest($9::uuid[]) AS wanted (id)
        CROSS JOIN LATERAL (
            SELECT a.decision_id, a.answer FROM decisions a
            WHERE a.partition = 0 AND a.decision_id = wanted.id
            ORDER BY a.decided_at LIMIT 1
        ) AS d
    )
)::text
