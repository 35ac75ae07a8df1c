SELECT coalesce((SELECT max(position) FROM events WHERE partition = 0), 0), ledger_now(),
    (SELECT count(*) FROM permits WHERE partition = 0 AND state IN ('granted', 'redeemed')),
    (SELECT count(*) FROM permits WHERE partition = 0 AND state = 'unknown'),
    (SELECT count(*) FROM alerts WHERE partition = 0 AND delivered_at IS NULL AND NOT drill),
    (SELECT count(*) FROM alerts WHERE partition = 0 AND acked_at IS NULL AND NOT drill)
