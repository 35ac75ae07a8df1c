-- Events of the log, its bytes, and those of the look-ups beside it, indexes included.
SELECT (SELECT count(*) FROM events), pg_total_relation_size('events'),
    pg_total_relation_size('names') + pg_total_relation_size('contacts')
