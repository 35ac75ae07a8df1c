-- Takes the writer lock for the running transaction, with time limits of its own.
SELECT take_writer_lock()
