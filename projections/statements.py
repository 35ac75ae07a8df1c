"""The read side's SQL by name: every statement lives in a `.sql` file beside its kind."""

from functools import cache
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow


@cache
def statement(folder: str, name: str) -> str:
    """The text of `sql/<folder>/<name>.sql`. Raises FileNotFoundError."""
    return (files("projections") / "sql" / folder / f"{name}.sql").read_text(encoding="utf-8")


@cache
def composed(folder: str, name: str, /, **identifiers: str) -> sql.Composed:
    """The statement with names set into its braces as quoted identifiers."""
    template = sql.SQL(statement(folder, name))
    return template.format(**{key: sql.Identifier(name) for key, name in identifiers.items()})


@cache
def nested(folder: str, name: str, part: str) -> str:
    """The statement with another one of its folder set into its braces, which bear its name."""
    template = sql.SQL(statement(folder, name))
    return template.format(**{part: sql.SQL(statement(folder, part))}).as_string()


async def one(connection: AsyncConnection[Any], folder: str, name: str, /, **values: Any) -> Any:
    """The first row of the statement's answer, None where it has none. Raises psycopg.Error."""
    cursor: psycopg.AsyncCursor[TupleRow] = await connection.execute(
        statement(folder, name), values
    )
    return await cursor.fetchone()
