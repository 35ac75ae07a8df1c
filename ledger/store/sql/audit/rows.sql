-- audit.py reads the binary format and relies on the order of the columns.
COPY (
    SELECT position, originator_id, originator_version, recorded_at, hash, topic, state
    FROM events
    WHERE partition = 0 AND position > %(after)s AND position <= %(upto)s
    ORDER BY position
) TO STDOUT (FORMAT binary)
