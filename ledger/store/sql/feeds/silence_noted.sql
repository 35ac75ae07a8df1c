UPDATE feeds f SET silence_noted_at = ledger_now()
WHERE f.partition = 0 AND f.source = %(source)s AND f.last_heard_at = %(heard_at)s
