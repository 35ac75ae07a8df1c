-- Mails that were permitted, or seen to have gone out, within a range.
INSERT INTO mails
SELECT DISTINCT ON (p.permit_id)
    p.permit_id, p.customer_id,
    CASE WHEN (SELECT EXISTS (SELECT FROM merged)) THEN owner_of(p.customer_id) ELSE p.customer_id END,
    p.kind, p.lane, p.sender,
    e.topic = 'ledger:Customer.MailObserved', p.redeem_required, p.granted_at, p.send_by, p.state,
    p.redeemed_at, p.settled_at,
    json_array_length(p.items) > 0 OR (p.kind = 'observed' AND p.invoice_id IS NOT NULL)
FROM events e
CROSS JOIN LATERAL json_to_record(e.state -> 'permit') AS p(
    permit_id uuid, customer_id text, kind text, lane text, sender text, redeem_required boolean,
    granted_at timestamptz, send_by timestamptz, state text, redeemed_at timestamptz,
    settled_at timestamptz, items json, invoice_id text)
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic IN ('ledger:Customer.MailPermitted', 'ledger:Customer.MailObserved')
    AND NOT starts_with(p.customer_id, 'ledger-probe-')
ORDER BY p.permit_id, e.position DESC
ON CONFLICT (permit_id) DO UPDATE SET
    customer_id = excluded.customer_id, owner_id = excluded.owner_id,
    state = excluded.state, redeemed_at = excluded.redeemed_at, settled_at = excluded.settled_at
