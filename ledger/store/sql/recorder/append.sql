SELECT append_batch(%(batch)s)
