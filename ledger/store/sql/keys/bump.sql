INSERT INTO settings (partition, name, value) VALUES (0, 'keys_version', '1')
ON CONFLICT (partition, name) DO UPDATE SET value = (settings.value::bigint + 1)::text
