UPDATE clock SET test_now = %(now)s WHERE partition = 0
