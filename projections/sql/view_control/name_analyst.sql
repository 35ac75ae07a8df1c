SELECT set_config('ledger.analyst', %(role)s, true)
