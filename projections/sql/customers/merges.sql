-- The mails of customers who were merged count for the one they went into.
UPDATE mails m SET owner_id = n.owner
FROM note_merges(%(after)s, %(upto)s) n
WHERE m.owner_id = n.gone
