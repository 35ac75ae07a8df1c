-- Customers after the events of a range, each read and written once.
INSERT INTO customers
SELECT folded.*
FROM (
    SELECT e.originator_id,
        array_agg(ROW(e.topic, e.recorded_at, e.state)::log_entry ORDER BY e.position) AS entries
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN (
            'ledger:Customer.Created', 'ledger:Customer.AddressesObserved',
            'ledger:Customer.BreakerOpened', 'ledger:Customer.BreakerReset',
            'ledger:Customer.HoldPlaced', 'ledger:Customer.HoldLifted',
            'ledger:Customer.AddressHeld', 'ledger:Customer.AddressReleased',
            'ledger:Customer.SubscriptionEnded', 'ledger:Customer.SubscriptionResumed',
            'ledger:Customer.MergedInto', 'ledger:Customer.Absorbed', 'ledger:Customer.Unmerged',
            'ledger:Customer.LetGo', 'ledger:Customer.CreditNoted', 'ledger:Customer.Erased')
    GROUP BY e.originator_id
) told
CROSS JOIN LATERAL fold_customer(
    (SELECT c FROM customers c WHERE c.originator_id = told.originator_id),
    told.originator_id, told.entries) folded
WHERE folded.originator_id IS NOT NULL
ON CONFLICT (originator_id) DO UPDATE SET
    addresses = excluded.addresses,
    held_addresses = excluded.held_addresses,
    breaker_scope = excluded.breaker_scope,
    breaker_opened_at = excluded.breaker_opened_at,
    breaker_cause = excluded.breaker_cause,
    held_indefinitely = excluded.held_indefinitely,
    held_until = excluded.held_until,
    merged_into = excluded.merged_into,
    credits = excluded.credits,
    subscriptions = excluded.subscriptions
