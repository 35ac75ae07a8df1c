SELECT decision_id::text, decided_at, operation, sender, kind, customer_id, invoice_id, thread_id,
    status, code, replayed, policy, position
FROM decisions
WHERE partition = 0
    AND (%(customer_id)s::text IS NULL OR customer_id = %(customer_id)s)
    AND (%(invoice_id)s::text IS NULL OR invoice_id = %(invoice_id)s)
    AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s)
    AND (%(sender)s::text IS NULL OR sender = %(sender)s)
    AND (%(code)s::text IS NULL OR code = %(code)s)
    AND decided_at >= %(from)s AND decided_at < %(to)s
    AND (decided_at, decision_id) < (%(before)s, %(before_id)s::uuid)
ORDER BY decided_at DESC, decision_id DESC
LIMIT %(limit)s
