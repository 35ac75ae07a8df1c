-- One state at a time, each in the order of the index of unsettled permits. The time comes from a
-- subquery: with a volatile function in the condition itself the index would not be used.
SELECT lapsed.permit_id::text
FROM unnest(ARRAY['granted', 'redeemed']) AS unsettled (state)
CROSS JOIN LATERAL (
    SELECT p.permit_id, p.send_by FROM permits p
    WHERE p.partition = 0 AND p.state = unsettled.state AND p.send_by <= (SELECT ledger_now())
        AND p.state IN ('granted', 'redeemed', 'unknown')
    ORDER BY p.send_by LIMIT %(limit)s
) AS lapsed
ORDER BY lapsed.send_by LIMIT %(limit)s
