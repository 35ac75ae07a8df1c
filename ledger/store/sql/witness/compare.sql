-- The ledger's epoch, and the events now at positions that were seen before.
SELECT s.value, (
    SELECT json_object_agg(e.position, encode(e.hash, 'hex'))
    FROM events e
    WHERE e.partition = 0 AND e.position = ANY (%(positions)s::bigint[])
)
FROM settings s
WHERE s.partition = 0 AND s.name = 'epoch'
