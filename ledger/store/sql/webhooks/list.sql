SELECT
    rejected_id, provider, reasons, octet_length(body), copies, fetched,
    received_at, last_received_at, replayed_at, resolved_at, resolution
FROM rejected_bodies
WHERE partition = 0
    AND rejected_id > %(after)s
    AND (%(all)s OR resolved_at IS NULL)
    AND (%(provider)s::text IS NULL OR provider = %(provider)s)
    AND (%(kind)s::text IS NULL OR %(kind)s = ANY (kinds))
ORDER BY rejected_id
LIMIT %(limit)s
