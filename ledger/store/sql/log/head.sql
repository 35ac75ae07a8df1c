SELECT head_position, head_hash, head_recorded_at, read_at, keys_version FROM begin_batch()
