"""Reads the read side's SQL statements by name: each is a `.sql` file in its topic's folder."""

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
    """The statement with its placeholders in braces replaced by quoted identifiers."""
    template = sql.SQL(statement(folder, name))
    return template.format(**{key: sql.Identifier(name) for key, name in identifiers.items()})


@cache
def nested(folder: str, name: str, part: str) -> str:
    """The statement with the placeholder `{part}` replaced by the statement of that name."""
    template = sql.SQL(statement(folder, name))
    return template.format(**{part: sql.SQL(statement(folder, part))}).as_string()


async def one(connection: AsyncConnection[Any], folder: str, name: str, /, **values: Any) -> Any:
    """The first row of the statement's result, None where it is empty. Raises psycopg.Error."""
    cursor: psycopg.AsyncCursor[TupleRow] = await connection.execute(
        statement(folder, name), values
    )
    return await cursor.fetchone()
