SELECT s.value, coalesce(h.position, 0), coalesce(h.hash, decode(repeat('00', 32), 'hex')),
    h.recorded_at, ledger_now()
FROM settings s
LEFT JOIN LATERAL (
    SELECT e.position, e.hash, e.recorded_at
    FROM events e
    WHERE e.partition = 0
    ORDER BY e.position DESC
    LIMIT 1
) h ON true
WHERE s.partition = 0 AND s.name = 'epoch'
