-- Messages that were seen within a range: what the last word says, at the first time that was told.
WITH told AS (
    SELECT e.originator_id, sha256(convert_to(e.state ->> 'message_id', 'UTF8')) AS message_hash,
        e.state -> 'message' ->> 'direction' = 'inbound' AS is_inbound,
        e.state -> 'message' ->> 'automatic' IS NOT NULL AS is_automatic,
        least((e.state ->> 'seen_at')::timestamptz, e.recorded_at) AS seen_at, e.position
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic = 'ledger:Thread.MessageSeen'
), latest AS (
    SELECT DISTINCT ON (t.originator_id, t.message_hash) t.*,
        min(t.seen_at) OVER (PARTITION BY t.originator_id, t.message_hash) AS first_seen_at
    FROM told t
    ORDER BY t.originator_id, t.message_hash, t.position DESC
)
INSERT INTO messages AS m
SELECT l.originator_id, l.message_hash, l.is_inbound, l.is_automatic, l.first_seen_at, l.position
FROM latest l
ON CONFLICT (originator_id, message_hash) DO UPDATE SET
    is_inbound = excluded.is_inbound,
    is_automatic = excluded.is_automatic,
    seen_at = least(m.seen_at, excluded.seen_at),
    position = excluded.position
