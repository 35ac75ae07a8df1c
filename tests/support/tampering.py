"""Changes a log in ways that its own role may not: as superuser, with triggers disabled."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ledger.store.hashchain import GENESIS, event_hash
from tests.support.postgres import superuser


@contextmanager
def past_the_triggers(database: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection on which no trigger fires."""
    with superuser(database, str(conninfo_to_dict(database)["dbname"])) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def tamper(database: str, *statements: str) -> None:
    """Runs the statements, each of which must touch at least one row or be DDL."""
    with past_the_triggers(database) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
            assert cursor.rowcount != 0, f"touched nothing: {statement}"


def rebuild_chain(database: str, after: int = 0) -> None:
    """Computes every hash after a position anew, as a forger with the source at hand would."""
    with past_the_triggers(database) as connection:
        before = connection.execute(
            "SELECT hash FROM events WHERE position = %s", [after]
        ).fetchone()
        last = before[0] if before else GENESIS
        rows = connection.execute(
            "SELECT position, originator_id, originator_version, topic, state::text, recorded_at"
            " FROM events WHERE position > %s ORDER BY position",
            [after],
        ).fetchall()
        for position, id_, version, topic, state, at in rows:
            last = event_hash(last, position, id_, version, topic, state.encode(), at)
            connection.execute("UPDATE events SET hash = %s WHERE position = %s", [last, position])
