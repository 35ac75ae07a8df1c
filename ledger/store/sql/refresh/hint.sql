-- One row per object; a new hint makes it due at once, also after a failed fetch.
INSERT INTO refresh_work (partition, provider, object_kind, object_id, first_hinted_at, last_hinted_at)
VALUES (0, %(provider)s, %(object_kind)s, %(object_id)s, ledger_now(), ledger_now())
ON CONFLICT (partition, provider, object_kind, object_id) DO UPDATE SET
    hints = refresh_work.hints + 1,
    last_hinted_at = excluded.last_hinted_at,
    next_attempt_at = clock_timestamp(),
    attempts = 0
