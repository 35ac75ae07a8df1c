-- How far an export can come: the end of the log as it was so many seconds ago, by the ledger's
-- clock, and what every read model has taken in.
SELECT least(
    coalesce((
        SELECT e.position FROM events e
        WHERE e.partition = 0 AND e.recorded_at <= ledger_now() - %(settle)s * interval '1 second'
        ORDER BY e.position DESC LIMIT 1), 0),
    (SELECT min(g.position) FROM projections p JOIN projection_generations g USING (partition, name, generation)
        WHERE p.partition = 0))
