-- Every answer to a request for a permit and to a redeem, one row each; guard checks are left out.
SELECT d.decision_id, d.decided_at, (d.decided_at AT TIME ZONE 'UTC')::date AS decided_day,
    d.position AS log_position, d.operation, d.sender, d.key_id, d.kind,
    d.customer_id, coalesce(m.owner_id, d.customer_id) AS owner_customer_id,
    d.invoice_id, d.thread_id, d.status::integer AS http_status, d.code,
    d.status < 300 AND NOT d.replayed AS is_granted,
    d.replayed AS is_replay,
    coalesce((d.answer ->> 'repeats')::integer, 1) AS request_count,
    d.policy AS policy_version
FROM {ledger}.decisions d
LEFT JOIN {customers}.merged m ON m.customer_id = d.customer_id
WHERE d.partition = 0 AND (d.customer_id IS NULL OR NOT starts_with(d.customer_id, 'ledger-probe-'))
