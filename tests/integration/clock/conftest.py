"""A database whose clock a test moves: its own `clock_timestamp()` stands before PostgreSQL's."""

from datetime import timedelta

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

_SHIM = """
    CREATE SCHEMA shim;
    CREATE TABLE shim.jump (by interval NOT NULL);
    INSERT INTO shim.jump VALUES ('0');
    CREATE FUNCTION shim.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS $$ SELECT pg_catalog.clock_timestamp() + by FROM shim.jump $$;
"""


class DatabaseClock:
    """The clock of one database."""

    def __init__(self, database: str) -> None:
        self._database = database
        name = sql.Identifier(str(conninfo_to_dict(database)["dbname"]))
        with psycopg.connect(database, autocommit=True) as db:
            db.execute(_SHIM)
            path = sql.SQL("ALTER DATABASE {} SET search_path = shim, pg_catalog, public")
            db.execute(path.format(name))

    def wrong_by(self, jump: timedelta) -> None:
        """From now on it is that far ahead of the true time; behind it, where negative."""
        with psycopg.connect(self._database, autocommit=True) as db:
            db.execute("UPDATE shim.jump SET by = %s", [jump])


@pytest.fixture
def clock(database: str) -> DatabaseClock:
    """The clock of the test's database, right at first."""
    return DatabaseClock(database)
