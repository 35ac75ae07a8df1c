-- Sources that fell silent within a range, and those that were heard again: the last word on each.
WITH told AS (
    SELECT DISTINCT ON (e.state ->> 'source')
        e.state ->> 'source' AS source, e.topic, (e.state ->> 'heard_at')::timestamptz AS heard_at
    FROM events e
    WHERE e.partition = 0 AND e.position > %(after)s AND e.position <= %(upto)s
        AND e.topic IN ('ledger:Control.FeedFellSilent', 'ledger:Control.FeedHeardAgain')
    ORDER BY e.state ->> 'source', e.position DESC
), heard AS (
    DELETE FROM silent_feeds f USING told
    WHERE f.source = told.source AND told.topic = 'ledger:Control.FeedHeardAgain'
)
INSERT INTO silent_feeds (source, heard_at)
SELECT told.source, told.heard_at FROM told WHERE told.topic = 'ledger:Control.FeedFellSilent'
ON CONFLICT (source) DO UPDATE SET heard_at = excluded.heard_at
