SELECT append_batch(%(events)s, %(decisions)s, %(permits)s, %(rest)s)
