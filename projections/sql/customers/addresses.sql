-- Addresses that were held or released within a range, as the last word on each has them.
INSERT INTO held_addresses
SELECT DISTINCT ON (e.originator_id)
    e.state ->> 'fingerprint',
    (e.state -> 'suppressed' ->> 'until')::timestamptz,
    (e.state -> 'suppressed' ->> 'indefinite')::boolean,
    (e.state -> 'unsubscribed' ->> 'until')::timestamptz,
    (e.state -> 'unsubscribed' ->> 'indefinite')::boolean
FROM events e
WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
    AND e.topic IN ('ledger:Address.AddressHeld', 'ledger:Address.AddressReleased')
ORDER BY e.originator_id, e.position DESC
ON CONFLICT (fingerprint) DO UPDATE SET
    suppressed_until = excluded.suppressed_until,
    suppressed_indefinitely = excluded.suppressed_indefinitely,
    unsubscribed_until = excluded.unsubscribed_until,
    unsubscribed_indefinitely = excluded.unsubscribed_indefinitely
