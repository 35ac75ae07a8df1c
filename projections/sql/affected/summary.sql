SELECT count(*), coalesce(sum(a.mails), 0)::bigint, coalesce(sum(a.observed), 0)::bigint, max(a.mails),
    max(a.most), min(a.first_at), max(a.last_at), min(a.over_at),
    (array_agg(a.owner_id ORDER BY a.over_at, a.owner_id))[1]
FROM affected a
