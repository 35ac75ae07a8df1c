-- The end of a delivery attempt: done, or retried after a wait that doubles up to a limit, with
-- random jitter of up to half. The condition on `attempts` keeps a claim that expired from changing
-- a newer one. A drill proves that pages are delivered now, so it is given up after some attempts.
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
