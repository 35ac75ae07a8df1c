-- Run once, by the single-user mode of a new cluster: each line is one statement.
CREATE ROLE ledger LOGIN;
-- The text of an error quotes the value that caused it, and addresses must not reach logs (D18).
ALTER ROLE ledger SET log_min_messages TO 'log';
CREATE DATABASE ledger OWNER ledger TEMPLATE template0;
