-- Mails that were redeemed or settled within a range, in the state of the last word on each.
UPDATE mails m SET
    state = told.state,
    redeemed_at = coalesce(told.redeemed_at, m.redeemed_at),
    settled_at = coalesce(told.settled_at, m.settled_at)
FROM (
    SELECT (e.state ->> 'permit_id')::uuid AS permit_id,
        (array_agg(coalesce(e.state ->> 'state', 'redeemed') ORDER BY e.position DESC))[1] AS state,
        max(e.recorded_at) FILTER (WHERE e.topic = 'ledger:Customer.MailRedeemed') AS redeemed_at,
        max(e.recorded_at) FILTER (WHERE e.topic = 'ledger:Customer.MailSettled') AS settled_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN ('ledger:Customer.MailRedeemed', 'ledger:Customer.MailSettled')
    GROUP BY 1
) told
WHERE m.permit_id = told.permit_id
