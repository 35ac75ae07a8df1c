SELECT count(*) FROM sends
WHERE customer_id = %(customer)s AND sent_at > now() - interval '24 hours'
