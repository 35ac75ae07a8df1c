-- Which ledger this is, and what stands at positions that were seen in its log.
SELECT s.value, (
    SELECT json_object_agg(e.position, encode(e.hash, 'hex'))
    FROM events e
    WHERE e.partition = 0 AND e.position = ANY (%(positions)s::bigint[])
)
FROM settings s
WHERE s.partition = 0 AND s.name = 'epoch'
