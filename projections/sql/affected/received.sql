-- The common start of the statements in this folder: the outreach mails that each customer above
-- the policy's limit got in a window, and how many counted in the 24 hours that end with each mail.
-- A mail exactly 24 hours old no longer counts (design D8). Apologies make no customer affected.
-- Window functions instead of joins: they sort whatever the planner estimates, so time is bounded.
WITH counted AS (
    SELECT m.owner_id, m.observed, m.sender, counts_at(m, %(now)s) AS at
    FROM mails m
    -- One whose outcome is unknown counts from the end of its permit's life, a day at most.
    WHERE m.granted_at >= %(from)s::timestamptz - interval '1 day' AND m.granted_at < %(to)s
        AND m.lane = 'outreach'
), many AS (
    SELECT c.*, count(*) OVER (PARTITION BY c.owner_id) AS mails
    FROM counted c
    WHERE c.at >= %(from)s AND c.at < %(to)s
), rolling AS (
    SELECT m.*, count(*) OVER (
        PARTITION BY m.owner_id ORDER BY m.at
        RANGE BETWEEN interval '23:59:59.999999' PRECEDING AND CURRENT ROW) AS within
    FROM many m
    WHERE m.mails > %(outreach_per_day)s
), judged AS (
    SELECT r.*, max(r.within) OVER (PARTITION BY r.owner_id) AS most FROM rolling r
), received AS MATERIALIZED (
    SELECT j.* FROM judged j WHERE j.most > %(outreach_per_day)s
), affected AS MATERIALIZED (
    SELECT r.owner_id, count(*) AS mails, count(*) FILTER (WHERE r.observed) AS observed,
        max(r.within) AS most, min(r.at) AS first_at, max(r.at) AS last_at,
        min(r.at) FILTER (WHERE r.within > %(outreach_per_day)s) AS over_at
    FROM received r
    GROUP BY r.owner_id
)
