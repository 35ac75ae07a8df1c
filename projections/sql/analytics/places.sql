-- Where the log told last of the threads that had a message within a range.
UPDATE threads t SET position = greatest(t.position, told.position)
FROM (
    SELECT e.originator_id, max(e.position) AS position
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Thread.MessageSeen'
    GROUP BY 1
) told
WHERE t.originator_id = told.originator_id
