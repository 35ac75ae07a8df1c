-- End a claim: the object is due after a pause, with the error, or at once if a newer hint came.
UPDATE refresh_work SET
    claimed_until = NULL,
    last_error = %(error)s,
    next_attempt_at = CASE WHEN hints = %(hints)s THEN clock_timestamp() + %(pause)s ELSE clock_timestamp() END
WHERE partition = 0 AND refresh_id = %(refresh_id)s
