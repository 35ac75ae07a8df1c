-- Takes the writer lock of the running transaction, then reads the head of the log and the time.
SELECT head_position, head_hash, head_recorded_at, read_at FROM begin_batch()
