told AS (
    SELECT coalesce(e.state -> 'permit' ->> 'permit_id', e.state ->> 'permit_id')::uuid AS permit_id,
        e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN (
            'ledger:Customer.MailPermitted', 'ledger:Customer.MailObserved',
            'ledger:Customer.MailRedeemed', 'ledger:Customer.MailSettled')
    UNION ALL
    SELECT m.permit_id, v.recorded_at
    FROM moved v JOIN {customers}.mails m ON m.customer_id = v.customer_id
), changed AS (
    SELECT t.permit_id, (max(t.recorded_at) AT TIME ZONE 'UTC')::date AS day FROM told t GROUP BY 1
)
SELECT c.day AS partition_day, s.*, %(upto)s::bigint AS exported_position
FROM changed c JOIN analytics.sends s ON s.permit_id = c.permit_id
ORDER BY c.day
