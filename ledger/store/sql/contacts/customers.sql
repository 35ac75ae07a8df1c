-- Who has or had the address of this fingerprint, unless it was erased.
SELECT c.customer_id FROM contacts c
WHERE c.partition = 0 AND c.fingerprint = %(fingerprint)s
ORDER BY c.customer_id LIMIT %(limit)s
