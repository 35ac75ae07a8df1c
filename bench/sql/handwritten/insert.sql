INSERT INTO sends (invoice_id, stage, customer_id)
VALUES (%(invoice)s, 'day-3', %(customer)s) ON CONFLICT DO NOTHING
