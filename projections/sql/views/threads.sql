-- Every mail thread, one row each, with the messages that were seen in it.
SELECT t.thread_id,
    t.customer_id, coalesce(m.owner_id, t.customer_id) AS owner_customer_id,
    t.created_at, said.inbound_count, said.outbound_count, said.automatic_count,
    said.first_message_at, said.last_message_at, t.position AS log_position
FROM {analytics}.threads t
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE s.is_inbound) AS inbound_count,
        count(*) FILTER (WHERE NOT s.is_inbound) AS outbound_count,
        count(*) FILTER (WHERE s.is_automatic) AS automatic_count,
        min(s.seen_at) AS first_message_at, max(s.seen_at) AS last_message_at
    FROM {analytics}.messages s
    WHERE s.originator_id = t.originator_id
) said
LEFT JOIN {customers}.merged m ON m.customer_id = t.customer_id
