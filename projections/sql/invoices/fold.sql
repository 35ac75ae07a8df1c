-- Invoices after the events of a range, each read and written once.
INSERT INTO invoices
SELECT folded.*
FROM (
    SELECT e.originator_id,
        array_agg(ROW(e.topic, e.recorded_at, e.state)::log_entry ORDER BY e.position) AS entries
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN (
            'ledger:Invoice.Created', 'ledger:Invoice.Observed', 'ledger:Invoice.MoneyMoved',
            'ledger:Invoice.SubscriptionNamed',
            'ledger:Invoice.HoldPlaced', 'ledger:Invoice.HoldLifted',
            'ledger:Invoice.ReminderPermitted', 'ledger:Invoice.ReminderSent',
            'ledger:Invoice.ReminderOutcomeUnknown', 'ledger:Invoice.ReminderBounced',
            'ledger:Invoice.ReminderFreed')
    GROUP BY e.originator_id
) told
CROSS JOIN policy p
CROSS JOIN LATERAL fold_invoice(
    (SELECT i FROM invoices i WHERE i.originator_id = told.originator_id),
    told.originator_id, told.entries, p, (SELECT EXISTS (SELECT FROM merged))) folded
WHERE folded.originator_id IS NOT NULL
ON CONFLICT (originator_id) DO UPDATE SET
    customer_id = excluded.customer_id,
    debtor_id = excluded.debtor_id,
    currency = excluded.currency,
    total = excluded.total,
    balance = excluded.balance,
    status = excluded.status,
    issued_on = excluded.issued_on,
    due_on = excluded.due_on,
    zone = excluded.zone,
    cycle = excluded.cycle,
    starts_on = excluded.starts_on,
    reopened_on = excluded.reopened_on,
    run_ended = excluded.run_ended,
    held_indefinitely = excluded.held_indefinitely,
    held_until = excluded.held_until,
    in_flight_until = excluded.in_flight_until,
    last_reminder_at = excluded.last_reminder_at,
    records = excluded.records,
    rejections = excluded.rejections,
    rungs = excluded.rungs,
    refused_rungs = excluded.refused_rungs,
    due_at = excluded.due_at,
    observed_at = excluded.observed_at,
    source = excluded.source,
    subscriptions = excluded.subscriptions
