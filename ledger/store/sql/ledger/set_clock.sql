UPDATE clock SET test_now = greatest(test_now, %(now)s) WHERE partition = 0 RETURNING test_now
