SELECT append_batch(new_events => %(events)s)
