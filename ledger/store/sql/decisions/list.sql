-- Decisions, newest first. For an invoice, also those in which it is one of several invoices.
SELECT decision_id::text, decided_at, operation, sender, kind, customer_id, invoice_id, thread_id,
    status, code, replayed, policy, position,
    coalesce((answer ->> 'repeats')::integer, 0) AS repeats
FROM decisions
WHERE partition = 0
    AND (%(customers)s::text[] IS NULL OR customer_id = ANY (%(customers)s))
    AND (
        %(invoice_id)s::text IS NULL OR invoice_id = %(invoice_id)s OR (
            customer_id = ANY (%(debtors)s::text[]) AND (
                (request::jsonb -> 'invoices') ? %(invoice_id)s
                OR (operation = 'redeem' AND answer ->> 'permit_id' = ANY (%(permits)s::text[]))
            )
        )
    )
    AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s)
    AND (%(sender)s::text IS NULL OR sender = %(sender)s)
    AND (%(code)s::text IS NULL OR code = %(code)s)
    AND decided_at >= %(from)s AND decided_at < %(to)s
    AND (decided_at, decision_id) < (%(before)s, %(before_id)s::uuid)
ORDER BY decided_at DESC, decision_id DESC
LIMIT %(limit)s
