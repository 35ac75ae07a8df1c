-- What customers who were merged owe is owed by the one they went into.
UPDATE invoices i SET debtor_id = owner_of(i.debtor_id)
WHERE i.debtor_id = ANY (gone_within(%(after)s, %(upto)s))
