-- What every statement of this folder begins with: the mails of outreach that a customer over policy
-- got within a window, and how many of them counted together in the 24 hours that end with each.
-- A mail exactly 24 hours old no longer counts (design D8). Apologies make nobody affected.
WITH counted AS MATERIALIZED (
    SELECT m.owner_id, m.observed, m.sender, counts_at(m, %(now)s) AS at
    FROM mails m
    -- One whose outcome is unknown counts from the end of its permit's life, a day at most.
    WHERE m.granted_at >= %(from)s::timestamptz - interval '1 day' AND m.granted_at < %(to)s
        AND m.lane = 'outreach'
), many AS (
    SELECT c.owner_id FROM counted c
    WHERE c.at >= %(from)s AND c.at < %(to)s
    GROUP BY c.owner_id HAVING count(*) > %(outreach_per_day)s
), rolling AS (
    SELECT c.*, count(*) OVER (
        PARTITION BY c.owner_id ORDER BY c.at
        RANGE BETWEEN interval '23:59:59.999999' PRECEDING AND CURRENT ROW) AS within
    FROM counted c JOIN many USING (owner_id)
    WHERE c.at >= %(from)s AND c.at < %(to)s
), affected AS MATERIALIZED (
    SELECT r.owner_id, count(*) AS mails, count(*) FILTER (WHERE r.observed) AS observed,
        max(r.within) AS most, min(r.at) AS first_at, max(r.at) AS last_at,
        min(r.at) FILTER (WHERE r.within > %(outreach_per_day)s) AS over_at
    FROM rolling r
    GROUP BY r.owner_id HAVING max(r.within) > %(outreach_per_day)s
), received AS (
    SELECT r.* FROM rolling r JOIN affected USING (owner_id)
)
