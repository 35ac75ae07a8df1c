"""The tables of an export: what each has of a range of the log, as one statement.

`events` has the log itself, `decisions` and `denials` the answers of the range; the others have
the things that changed in it, as they are now, so that of one thing the row with the highest
`exported_position` counts. Every statement gives the day of the log first, and is in its order.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from projections.statements import statement

_FOLDER = "exports"
TABLES: dict[str, bool] = {
    "events": False,
    "decisions": False,
    "denials": False,
    "sends": True,
    "invoices": True,
    "stages": True,
    "payments": True,
    "threads": True,
    "incidents": True,
}
"""Each table; True: its things change, so also with the customer who answers for them."""


@dataclass(frozen=True, slots=True)
class Range:
    """The positions (after, upto] of the log; `since` (UTC) is when the first was recorded."""

    after: int
    upto: int
    since: Any

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of the statements."""
        return {"after": self.after, "upto": self.upto, "since": self.since}


def query_of(table: str, schemas: dict[str, str]) -> sql.Composed:
    """The statement of a table; `schemas` are those of the live generations, by read model."""
    start = statement(_FOLDER, "moved") if TABLES[table] else ""
    identifiers = {name: sql.Identifier(schema) for name, schema in schemas.items()}
    return sql.SQL(start + statement(_FOLDER, table)).format(**identifiers)


def copy_of(query: sql.Composed) -> sql.Composed:
    """The statement as a COPY in CSV."""
    return sql.SQL(statement(_FOLDER, "copy")).format(query=query)


def described(connection: psycopg.Connection[Any], query: sql.Composed) -> list[tuple[str, int]]:
    """The names and the type oids of its columns. Raises psycopg.Error."""
    text = sql.SQL(statement(_FOLDER, "describe")).format(query=query)
    cursor = connection.execute(text, Range(0, 0, None).values)
    return [(column.name, column.type_code) for column in cursor.description or ()]


def live_schemas(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """The schema of the live generation of each read model. Raises psycopg.Error."""
    rows = connection.execute(statement("view_control", "generations")).fetchall()
    return {name: schema for name, _, schema, _ in rows}


def reachable(connection: psycopg.Connection[Any], settle: float) -> int:
    """The position that an export can come to: see `snapshot.sql`. Raises psycopg.Error."""
    row = connection.execute(statement(_FOLDER, "snapshot"), {"settle": settle}).fetchone()
    assert row is not None
    position: int = row[0]
    return position


def position_before(connection: psycopg.Connection[Any], at: Any) -> int:
    """The last position that was recorded before a time (UTC). Raises psycopg.Error."""
    row = connection.execute(statement(_FOLDER, "first_at"), {"at": at}).fetchone()
    assert row is not None
    position: int = row[0]
    return position


def range_of(connection: psycopg.Connection[Any], after: int, upto: int) -> Range:
    """The range, with the time from which its decisions were taken. Raises psycopg.Error."""
    wanted = {"position": max(after, 1)}
    row = connection.execute(statement(_FOLDER, "recorded_at"), wanted).fetchone()
    assert row is not None
    return Range(after, upto, row[0] if after else EARLIEST)


EARLIEST = "-infinity"


def decided(connection: psycopg.Connection[Any], wanted: Range) -> dict[str, int]:
    """How many decisions and denials the range has now. Raises psycopg.Error."""
    row = connection.execute(statement(_FOLDER, "decided"), wanted.values).fetchone()
    assert row is not None
    return {"decisions": row[0], "denials": row[1]}
