-- What each view was made from, by name; without views that somebody dropped.
SELECT v.name, v.made_from FROM analytics_views v
WHERE v.partition = 0 AND to_regclass('analytics.' || quote_ident(v.name)) IS NOT NULL
