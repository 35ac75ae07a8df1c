SELECT enter_generation(%(name)s, %(generation)s)
