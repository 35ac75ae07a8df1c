-- The customers that an invoice ever named, and all permits granted for it.
SELECT
    array_agg(DISTINCT e.state -> 'snapshot' ->> 'customer_id')
        FILTER (WHERE e.topic = 'ledger:Invoice.Observed'),
    array_agg(DISTINCT e.state ->> 'permit_id')
        FILTER (WHERE e.topic IN ('ledger:Invoice.ReminderPermitted', 'ledger:Invoice.NoticePermitted'))
FROM events e
WHERE e.partition = 0 AND e.originator_id = %(invoice)s
