-- Did a batch commit whose acknowledgement was lost? Asked under the writer lock (design D4).
SELECT EXISTS (
    SELECT FROM events WHERE partition = 0 AND position = %(position)s AND hash = %(hash)s
) OR EXISTS (
    SELECT FROM decisions WHERE partition = 0 AND decision_id = ANY (%(decisions)s::uuid[])
)
