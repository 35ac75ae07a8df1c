-- The time by the ledger's clock, and the position that every read model has taken in.
SELECT ledger_now(), min(p.log_position) FROM analytics.progress p
