-- Everything that a batch of decisions needs and the cache does not hold, in one statement.
-- LATERAL with OFFSET 0 keeps one index probe per aggregate, also in a generic plan (design, traps).
SELECT json_build_object(
    'now', ledger_now(),
    'position', (SELECT max(h.position) FROM events h WHERE h.partition = 0),
    'snapshots', (
        SELECT json_agg(json_build_array(s.originator_id, s.originator_version, s.topic, s.state))
        FROM snapshots s
        WHERE s.partition = 0 AND s.originator_id = ANY (%(aggregates)s::uuid[])
    ),
    'events', (
        SELECT json_agg(
            json_build_array(e.originator_id, e.originator_version, e.topic, e.state)
            ORDER BY e.originator_id, e.originator_version
        )
        FROM unnest(%(aggregates)s::uuid[]) AS wanted (id)
        CROSS JOIN LATERAL (
            SELECT v.originator_id, v.originator_version, v.topic, v.state
            FROM events v
            WHERE v.partition = 0
                AND v.originator_id = wanted.id
                AND v.originator_version > coalesce((
                    SELECT n.originator_version FROM snapshots n
                    WHERE n.partition = 0 AND n.originator_id = wanted.id
                        AND n.topic = ANY (%(snapshot_topics)s::text[])
                ), 0)
            OFFSET 0
        ) AS e
    ),
    'permits', (
        SELECT json_agg(p.doc) FROM permits p
        WHERE p.partition = 0 AND p.permit_id = ANY (%(permits)s::uuid[])
    ),
    'names', (
        SELECT json_agg(json_build_array(wanted.kind, encode(n.name_hash, 'hex'), n.target))
        FROM unnest(%(name_kinds)s::text[], %(name_hashes)s::bytea[]) AS wanted (kind, name_hash)
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
        FROM idempotency i
        WHERE i.partition = 0 AND i.scope = ANY (%(scopes)s::bytea[])
    ),
    'owned', (
        SELECT json_agg(json_build_array(o.customer_id, o.invoice_id) ORDER BY o.invoice_id)
        FROM invoice_owners o
        WHERE o.partition = 0 AND o.customer_id = ANY (%(owners)s::text[])
    ),
    'contacts', (
        SELECT json_agg(json_build_array(c.fingerprint, c.customer_id, c.address))
        FROM contacts c
        WHERE c.partition = 0 AND c.fingerprint = ANY (%(fingerprints)s::text[])
    ),
    'answers', (
        SELECT json_agg(json_build_array(d.decision_id, d.answer))
        FROM decisions d
        WHERE d.partition = 0 AND d.decision_id = ANY (%(answers)s::uuid[])
    )
)::text
