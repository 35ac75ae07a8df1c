SELECT head_position, head_hash, head_recorded_at, read_at, keys_version, is_test_clock, awaits_standby FROM begin_batch()
