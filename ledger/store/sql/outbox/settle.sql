-- The end of a try: done, or to be tried again after a wait that doubles, is bounded, and is
-- spread at random by half. `attempts` keeps a claim that ran out from touching the next one.
-- A drill proves that pages arrive now; a late one proves nothing, so it is given up.
UPDATE pages
SET claimed_until = NULL,
    last_error = %(error)s,
    done_at = CASE
        WHEN %(error)s::text IS NULL OR (reason = 'drill' AND attempts >= %(drill_attempts)s)
        THEN clock_timestamp()
    END,
    next_attempt_at = clock_timestamp()
        + least(%(wait)s * power(2, least(attempts - 1, 30)), %(longest_wait)s) * (0.5 + random() / 2)
WHERE partition = 0 AND page_id = %(page_id)s AND attempts = %(attempts)s AND done_at IS NULL
