-- Mails per span of time: of each of the customers who got most, and of all others together (null).
SELECT t.owner_id, floor(extract(epoch FROM r.at - %(from)s) / %(seconds)s)::integer, count(*)
FROM received r
LEFT JOIN (
    SELECT a.owner_id FROM affected a ORDER BY a.mails DESC, a.owner_id LIMIT %(top)s
) t USING (owner_id)
GROUP BY 1, 2 ORDER BY 1, 2
