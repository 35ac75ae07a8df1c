CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    run_at timestamptz NOT NULL DEFAULT clock_timestamp()
)
