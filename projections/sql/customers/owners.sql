-- The mails of customers who were merged count for the one they went into.
UPDATE mails m SET owner_id = owner_of(m.owner_id)
WHERE m.owner_id = ANY (gone_within(%(after)s, %(upto)s))
