SELECT 1 FROM customers WHERE customer_id = %(customer)s FOR UPDATE
