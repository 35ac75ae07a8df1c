SELECT 1 FROM partitions WHERE partition = 0 FOR UPDATE
