-- Compare and set: only where nobody has moved it since it was read.
UPDATE send_ledger_witness
SET position = %(position)s, hash = %(hash)s, recorded_at = %(at)s,
    system_identifier = %(system)s, timeline = %(timeline)s
WHERE epoch = %(epoch)s AND position = %(old_position)s AND hash = %(old_hash)s
    AND system_identifier = %(old_system)s AND timeline = %(old_timeline)s
RETURNING true
