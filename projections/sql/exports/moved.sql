-- The start of every statement about things that belong to a customer: the customers for whom
-- another one answers since a range of the log, and when that was told.
WITH named AS (
    SELECT e.state ->> 'into' AS customer_id, e.recorded_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Customer.MergedInto'
    UNION ALL
    SELECT ids.id, e.recorded_at
    FROM events e
    CROSS JOIN LATERAL (
        SELECT json_array_elements_text(e.state -> 'ids') AS id
        UNION ALL SELECT json_array_elements_text(e.state -> 'others')
    ) ids
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Customer.Unmerged'
), owners AS (
    SELECT coalesce(m.owner_id, n.customer_id) AS owner_id, max(n.recorded_at) AS recorded_at
    FROM named n LEFT JOIN {customers}.merged m ON m.customer_id = n.customer_id
    GROUP BY 1
), moved AS (
    SELECT o.owner_id AS customer_id, o.recorded_at FROM owners o
    UNION ALL
    SELECT m.customer_id, o.recorded_at FROM owners o JOIN {customers}.merged m ON m.owner_id = o.owner_id
),
