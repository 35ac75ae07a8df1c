INSERT INTO migrations (number, name, checksum) VALUES (%(number)s, %(name)s, %(checksum)s)
