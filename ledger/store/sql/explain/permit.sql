-- The events of one permit up to a position. They are in the streams of its customer and of the
-- customers that this one was merged into.
SELECT e.originator_id, e.originator_version, e.topic, e.state::text
FROM unnest(%(customers)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.position, v.originator_id, v.originator_version, v.topic, v.state
    FROM events v
    WHERE v.partition = 0 AND v.originator_id = wanted.id AND v.position <= %(position)s
    OFFSET 0
) AS e
WHERE e.topic IN (
        'ledger:Customer.MailPermitted', 'ledger:Customer.MailObserved',
        'ledger:Customer.MailRedeemed', 'ledger:Customer.MailSettled'
    )
    AND coalesce(e.state ->> 'permit_id', e.state -> 'permit' ->> 'permit_id') = %(permit_id)s
ORDER BY e.position
