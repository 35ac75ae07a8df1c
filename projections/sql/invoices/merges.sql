-- What customers who were merged owe is owed by the one they went into.
UPDATE invoices i SET debtor_id = m.owner
FROM note_merges(%(after)s, %(upto)s) m
WHERE i.debtor_id = m.gone
