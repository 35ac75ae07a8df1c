-- The permits that were granted for a named send up to a position, the latest first.
SELECT e.state -> 'permit' ->> 'permit_id'
FROM unnest(%(customers)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.position, v.topic, v.state
    FROM events v
    WHERE v.partition = 0 AND v.originator_id = wanted.id AND v.position <= %(position)s
    OFFSET 0
) AS e
WHERE e.topic = 'ledger:Customer.MailPermitted' AND e.state -> 'permit' ->> 'named' = %(named)s
ORDER BY e.position DESC
