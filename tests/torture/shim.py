"""A database that lies about the time, or says that its disk is full, while a torture run says so.

The clock is a `clock_timestamp()` that stands before PostgreSQL's own. The full disk is an error
(SQLSTATE 53100) that triggers raise, either when events are written or at the COMMIT: a disk that
is really full would stop everything else on it, too, and needs a file system of its own.
"""

import time
from datetime import timedelta
from typing import LiteralString

import psycopg

_SECONDS = 60.0
_INSTALL: tuple[LiteralString, ...] = (
    "CREATE SCHEMA shim",
    "CREATE TABLE shim.state (jump interval NOT NULL, disk_full_at text NOT NULL)",
    "INSERT INTO shim.state VALUES ('0', 'never')",
    """
    CREATE FUNCTION shim.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS $$ SELECT pg_catalog.clock_timestamp() + jump FROM shim.state $$
    """,
    """
    CREATE FUNCTION shim.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF (SELECT disk_full_at = TG_ARGV[0] FROM shim.state) THEN
            RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100';
        END IF;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER disk_full_at_write AFTER INSERT ON events
        FOR EACH STATEMENT EXECUTE FUNCTION shim.disk_full('write')
    """,
    """
    CREATE CONSTRAINT TRIGGER disk_full_at_commit AFTER INSERT ON events
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION shim.disk_full('commit')
    """,
    """
    DO $$ BEGIN
        EXECUTE format(
            'ALTER DATABASE %I SET search_path = public, shim, pg_catalog', current_database()
        );
    END $$
    """,
    """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND application_name LIKE 'send-ledger%'
    """,
)


class Shim:
    """What the database says of itself; each change waits until a database answers."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def install(self) -> None:
        """Put it before PostgreSQL's own; connections that know only that one are cut."""
        with psycopg.connect(self._conninfo, autocommit=True) as db:
            for statement in _INSTALL:
                db.execute(statement)

    def clock_wrong_by(self, jump: timedelta) -> None:
        """From now on the database's clock is that far ahead of the true time."""
        self._change("UPDATE shim.state SET jump = %s", jump)

    def disk_full_at(self, when: str) -> None:
        """From now on the disk is full at each `write`, at each `commit`, or `never`."""
        self._change("UPDATE shim.state SET disk_full_at = %s", when)

    def _change(self, statement: LiteralString, value: object) -> None:
        give_up = time.monotonic() + _SECONDS
        while True:
            try:
                with psycopg.connect(self._conninfo, autocommit=True, connect_timeout=5) as db:
                    db.execute(statement, [value])
                    return
            except psycopg.OperationalError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.1)
