"""The rules of the send ledger: pure values, aggregates and guards, without any input or output."""
