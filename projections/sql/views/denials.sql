-- Every no, one row each, and what it prevented; guard checks are left out.
SELECT d.decision_id, d.decided_at, (d.decided_at AT TIME ZONE 'UTC')::date AS decided_day,
    d.position AS log_position, d.operation, d.sender, d.key_id, d.kind,
    d.customer_id, coalesce(m.owner_id, d.customer_id) AS owner_customer_id,
    d.invoice_id, d.thread_id, d.status::integer AS http_status, d.code,
    coalesce((d.answer ->> 'repeats')::integer, 1) AS request_count,
    d.code IN ('already_sent', 'duplicate_intent', 'similar_intent', 'already_replied',
        'apology_already_sent') AS is_duplicate,
    d.code IN ('permit_held', 'outcome_unknown', 'already_redeemed') AS is_concurrent,
    (d.answer ->> 'retryable')::boolean AS is_retryable,
    (d.answer ->> 'available_at')::timestamptz AS available_at,
    d.answer -> 'original' ->> 'permit_id' AS original_permit_id
FROM {ledger}.decisions d
LEFT JOIN {customers}.merged m ON m.customer_id = d.customer_id
WHERE d.partition = 0 AND d.code IS NOT NULL
    AND (d.customer_id IS NULL OR NOT starts_with(d.customer_id, 'ledger-probe-'))
