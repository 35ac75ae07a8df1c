-- A kind without an open body may be alerted on again.
UPDATE rejected_kinds k SET open = false
WHERE k.partition = 0 AND k.open AND NOT EXISTS (
    SELECT 1 FROM rejected_bodies r
    WHERE r.partition = 0 AND r.resolved_at IS NULL AND r.provider = k.provider AND k.kind = ANY (r.kinds)
)
