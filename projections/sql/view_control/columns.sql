-- The columns that a view has now, in their order, and the type of each.
SELECT a.attname::text, format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a
WHERE a.attrelid = to_regclass(%(view)s) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
