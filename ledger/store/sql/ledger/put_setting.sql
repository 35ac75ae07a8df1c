INSERT INTO settings (partition, name, value) VALUES (0, %(name)s, %(value)s)
ON CONFLICT (partition, name) DO NOTHING
