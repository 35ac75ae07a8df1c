-- The same bytes use the same row; they reopen it unless a person dismissed it.
INSERT INTO rejected_bodies (
    partition, provider, kinds, reasons, headers, body, body_hash, fetched, received_at, last_received_at
)
VALUES (
    0, %(provider)s, %(kinds)s, %(reasons)s, %(headers)s, %(body)s, sha256(%(body)s), %(fetched)s,
    ledger_now(), ledger_now()
)
ON CONFLICT (partition, provider, body_hash) DO UPDATE SET
    copies = rejected_bodies.copies + 1,
    last_received_at = excluded.last_received_at,
    kinds = excluded.kinds,
    reasons = excluded.reasons,
    headers = CASE WHEN rejected_bodies.resolution = 'dismissed' THEN '{}' ELSE excluded.headers END,
    body = CASE WHEN rejected_bodies.resolution = 'dismissed' THEN ''::bytea ELSE excluded.body END,
    resolved_at = CASE WHEN rejected_bodies.resolution = 'dismissed' THEN rejected_bodies.resolved_at END,
    resolution = CASE WHEN rejected_bodies.resolution = 'dismissed' THEN rejected_bodies.resolution END
RETURNING rejected_id, resolved_at IS NULL
