-- Threads that began within a range.
INSERT INTO threads
SELECT e.originator_id, e.state ->> 'thread_id', nullif(e.state ->> 'customer_id', ''),
    e.recorded_at, e.position
FROM events e
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic = 'ledger:Thread.Created'
    AND NOT starts_with(e.state ->> 'customer_id', 'ledger-probe-')
