-- What customers owe who were parted from another one is their own debt again.
UPDATE invoices i SET debtor_id = owner_of(i.customer_id)
FROM parted_within(%(after)s, %(upto)s) p
WHERE i.debtor_id = ANY (p.others) AND i.customer_id = ANY (p.ids)
