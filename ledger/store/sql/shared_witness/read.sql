SELECT position, hash, recorded_at, system_identifier, timeline
FROM send_ledger_witness WHERE epoch = %(epoch)s
