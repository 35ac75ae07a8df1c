INSERT INTO analytics_views VALUES (0, %(name)s, %(made_from)s)
ON CONFLICT (partition, name) DO UPDATE SET made_from = excluded.made_from
