-- Free for the next try: after a pause and with what went wrong, or at once for a newer hint.
UPDATE refresh_work SET
    claimed_until = NULL,
    last_error = %(error)s,
    next_attempt_at = CASE WHEN hints = %(hints)s THEN clock_timestamp() + %(pause)s ELSE clock_timestamp() END
WHERE partition = 0 AND refresh_id = %(refresh_id)s
