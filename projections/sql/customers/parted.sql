-- The mails of customers who were parted, of before they were merged, count for themselves again.
UPDATE mails m SET owner_id = owner_of(m.customer_id)
FROM parted_within(%(after)s, %(upto)s) p
WHERE m.owner_id = ANY (p.others) AND m.customer_id = ANY (p.ids)
