SELECT d.decision_id::text, d.decided_at, d.operation, d.key_id, d.sender, d.kind, d.customer_id,
    d.invoice_id, d.thread_id, d.status, d.code, d.replayed, d.policy, d.position, d.request, d.answer,
    p.policy
FROM decisions d LEFT JOIN policies p ON p.partition = 0 AND p.version = d.policy
WHERE d.partition = 0 AND d.decision_id = %(decision_id)s
