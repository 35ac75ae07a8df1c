BEGIN;
SELECT head_position, head_hash, head_recorded_at, read_at, is_test_clock, keys_version FROM begin_batch()
