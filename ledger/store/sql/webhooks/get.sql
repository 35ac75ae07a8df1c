SELECT
    rejected_id, provider, reasons, octet_length(body), copies, fetched,
    received_at, last_received_at, replayed_at, resolved_at, resolution, headers, body
FROM rejected_bodies
WHERE partition = 0 AND rejected_id = %(rejected_id)s
