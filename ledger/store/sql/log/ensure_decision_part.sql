SELECT ensure_decision_part(%(at)s)
