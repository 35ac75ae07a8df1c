-- In the database that several machines share, which is not the ledger's.
CREATE TABLE IF NOT EXISTS send_ledger_witness (
    epoch text PRIMARY KEY,
    position bigint NOT NULL,
    hash bytea NOT NULL,
    recorded_at timestamptz,
    system_identifier bigint NOT NULL,
    timeline integer NOT NULL
)
