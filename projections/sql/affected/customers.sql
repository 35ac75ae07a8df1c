SELECT a.owner_id, a.mails, a.observed, a.most, a.first_at, a.last_at, a.over_at,
    ARRAY(SELECT m.customer_id FROM merged m WHERE m.owner_id = a.owner_id ORDER BY m.customer_id)
FROM affected a
WHERE a.mails < %(after_mails)s OR (a.mails = %(after_mails)s AND a.owner_id > %(after_id)s)
ORDER BY a.mails DESC, a.owner_id
LIMIT %(limit)s
