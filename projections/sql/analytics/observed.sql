-- What the mails were about that were seen to have gone out within a range.
INSERT INTO observed_mails
SELECT p.permit_id, p.invoice_id, p.thread_id, p.incident_id
FROM events e
CROSS JOIN LATERAL json_to_record(e.state -> 'permit') AS p(
    permit_id uuid, invoice_id text, thread_id text, incident_id text)
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic = 'ledger:Customer.MailObserved'
ON CONFLICT DO NOTHING
