-- The streams of a customer's timeline beside their own: every invoice that ever named them, every
-- thread that ever belonged to them, and every address that they ever had, by its fingerprint.
SELECT 'invoice', o.invoice_id
FROM invoice_owners o
WHERE o.partition = 0 AND o.customer_id = ANY (%(customers)s::text[])
UNION
SELECT 'thread', c.state ->> 'thread_id'
FROM events e
CROSS JOIN LATERAL (
    SELECT f.state
    FROM events f
    WHERE f.partition = 0 AND f.originator_id = e.originator_id AND f.originator_version = 1
    OFFSET 0
) AS c
WHERE e.partition = 0
    AND e.topic IN ('ledger:Thread.Created', 'ledger:Thread.Moved')
    AND e.state ->> 'customer_id' = ANY (%(customers)s::text[])
UNION
SELECT 'address', a.fingerprint
FROM unnest(%(streams)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT v.state
    FROM events v
    WHERE v.partition = 0 AND v.originator_id = wanted.id
        AND v.topic = 'ledger:Customer.AddressesObserved'
    OFFSET 0
) AS o
CROSS JOIN LATERAL json_array_elements_text(o.state -> 'fingerprints') AS a (fingerprint)
