SELECT note_merges(%(after)s, %(upto)s)
