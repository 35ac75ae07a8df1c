INSERT INTO send_ledger_witness
VALUES (%(epoch)s, %(position)s, %(hash)s, %(at)s, %(system)s, %(timeline)s)
ON CONFLICT (epoch) DO NOTHING
RETURNING true
