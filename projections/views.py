"""Makes the views for analysts, schema `analytics`, over the live generations of the read models.

A view is replaced in place, so that views of users that are made from it stay. Its columns are
never renamed, retyped or removed, only added at the end. An older version of the program leaves
the columns of a newer one there, as nulls.
"""

import hashlib
import logging
from functools import cache
from typing import Any

from psycopg import AsyncConnection, errors, sql

from projections.models import MODELS
from projections.statements import one, statement

_log = logging.getLogger("projections.views")

SCHEMA = "analytics"
VIEWS: dict[str, tuple[str, ...]] = {
    "sends": ("analytics", "customers"),
    "decisions": ("customers",),
    "denials": ("customers",),
    "invoices": ("customers", "invoices"),
    "stages": ("customers", "invoices"),
    "payments": ("analytics", "customers", "invoices"),
    "threads": ("analytics", "customers"),
    "customers_daily": ("customers",),
    "senders_daily": ("customers",),
    "incidents": ("incidents",),
    "feeds": (),
    "progress": (),
}
"""Each view, and the read models whose tables it reads; its SELECT is `sql/views/<name>.sql`."""


async def point_views(connection: AsyncConnection[Any]) -> bool:
    """Let every view read the live generations, and make the views that are missing.

    A view over a read model that another version of the program built stays as it is until that
    is rebuilt. False where an analyst's query held a view for longer than two seconds: it still
    reads the old generation. Raises psycopg.Error.
    """
    try:
        async with connection.transaction():
            await one(connection, "view_control", "lock_briefly")
            await _point(connection)
    except errors.LockNotAvailable:
        _log.warning("an analyst's query holds a view, which stays as it was meanwhile")
        return False
    return True


async def is_read(connection: AsyncConnection[Any], schema: str) -> bool:
    """Does a view read that schema, also one of a newer program? Raises psycopg.Error."""
    row = await one(connection, "view_control", "read_by", schema=schema)
    return bool(row[0])


async def _point(connection: AsyncConnection[Any]) -> None:
    cursor = await connection.execute(statement("view_control", "generations"))
    rows = await cursor.fetchall()
    current = {
        name: (schema, MODELS[name].version == version)
        for name, version, schema, _ in rows
        if name in MODELS
    }
    cursor = await connection.execute(statement("view_control", "known"))
    known: dict[str, str] = dict(await cursor.fetchall())
    schemas = {"ledger": rows[0][3]} | {name: schema for name, (schema, _) in current.items()}
    wanted = {
        name: made_from(name, schemas)
        for name, models in VIEWS.items()
        if all(current.get(model, ("", False))[1] for model in models)
    }
    stale = [name for name, digest in wanted.items() if known.get(name) != digest]
    if stale:
        await connection.execute(statement("view_control", "schema"))
    for name in stale:
        await _make(connection, name, schemas, replaces=name in known)
        values = {"name": name, "made_from": wanted[name]}
        await connection.execute(statement("view_control", "record"), values)


def made_from(name: str, schemas: dict[str, str]) -> str:
    """A digest of a view's text and of the schemas that it reads: a change asks for a new view."""
    read = [schemas[model] for model in ("ledger", *VIEWS[name])]
    return hashlib.sha256("\n".join([_text(name), *read]).encode()).hexdigest()


@cache
def _text(name: str) -> str:
    return statement("views", name) + statement("view_comments", name)


async def _make(
    connection: AsyncConnection[Any], name: str, schemas: dict[str, str], *, replaces: bool
) -> None:
    identifiers = {model: sql.Identifier(schema) for model, schema in schemas.items()}
    body = sql.SQL(statement("views", name)).format(**identifiers)
    more = await _columns_beyond(connection, name, body) if replaces else []
    template = sql.SQL(statement("view_control", "extend" if more else "create"))
    made = template.format(
        view=sql.Identifier(name),
        body=body,
        more=sql.SQL(", ").join(
            sql.SQL("CAST(NULL AS {}) AS {}").format(sql.SQL(kind), sql.Identifier(column))
            for column, kind in more
        ),
    )
    comments = sql.SQL(statement("view_comments", name))
    await connection.execute(made + sql.SQL(";\n") + comments)


async def _columns_beyond(
    connection: AsyncConnection[Any], name: str, body: sql.Composed
) -> list[tuple[str, str]]:
    """The columns that the view has and its text has not: those that a newer program added."""
    values = {"view": f"{SCHEMA}.{name}"}
    cursor = await connection.execute(statement("view_control", "columns"), values)
    present = await cursor.fetchall()
    described = await connection.execute(body + sql.SQL("LIMIT 0"))
    ours = {column.name for column in described.description or ()}
    return [(column, kind) for column, kind in present if column not in ours]
