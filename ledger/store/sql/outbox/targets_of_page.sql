-- The targets that received a page.
SELECT target FROM page_deliveries WHERE partition = 0 AND page_id = %(page_id)s
