INSERT INTO projections VALUES (0, %(name)s, %(generation)s)
ON CONFLICT (partition, name) DO UPDATE SET generation = excluded.generation
