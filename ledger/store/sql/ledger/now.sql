SELECT ledger_now()
