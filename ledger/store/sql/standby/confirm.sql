-- A commit that writes nothing but a note into the write-ahead log: it answers once a synchronous
-- standby has it, and with it everything that was committed before.
SELECT pg_logical_emit_message(true, 'send-ledger', '')
