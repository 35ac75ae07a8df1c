-- Threads that went to another customer within a range, as the last word on each has it.
UPDATE threads t SET customer_id = nullif(told.customer_id, ''), position = told.position
FROM (
    SELECT DISTINCT ON (e.originator_id)
        e.originator_id, e.state ->> 'customer_id' AS customer_id, e.position
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Thread.Moved'
    ORDER BY e.originator_id, e.position DESC
) told
WHERE t.originator_id = told.originator_id
