-- Add what was heard of some sources; new ones only while there are few enough.
INSERT INTO feeds AS f (
    partition, source, first_heard_at, last_heard_at, tells_of_money,
    applied, duplicate, stale, ignored, rejected)
SELECT 0, h.source, h.at, h.at, h.tells_of_money, h.applied, h.duplicate, h.stale, h.ignored, h.rejected
FROM jsonb_to_recordset(%(heard)s) AS h(
    source text, at timestamptz, tells_of_money boolean,
    applied bigint, duplicate bigint, stale bigint, ignored bigint, rejected bigint)
WHERE EXISTS (SELECT FROM feeds k WHERE k.partition = 0 AND k.source = h.source)
    OR (SELECT count(*) FROM feeds k WHERE k.partition = 0) < %(most)s
ORDER BY h.source
ON CONFLICT (partition, source) DO UPDATE SET
    last_heard_at = greatest(f.last_heard_at, excluded.last_heard_at),
    tells_of_money = f.tells_of_money OR excluded.tells_of_money,
    applied = f.applied + excluded.applied,
    duplicate = f.duplicate + excluded.duplicate,
    stale = f.stale + excluded.stale,
    ignored = f.ignored + excluded.ignored,
    rejected = f.rejected + excluded.rejected,
    silence_noted_at = NULL
