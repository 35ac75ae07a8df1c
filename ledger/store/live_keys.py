"""Reads every live key at once, for a table in memory: who a secret's hash belongs to."""

from typing import Any

from psycopg import AsyncConnection

from ledger.application.caller import Caller
from ledger.store.keys import caller_of_row
from ledger.store.statements import statement

MOST_LIVE_KEYS = 65_536
"""Keys beyond these, the newest, are unknown: a table in memory needs a bound."""


async def keys_version(connection: AsyncConnection[Any]) -> int:
    """A number that grows whenever a key is made or revoked."""
    cursor = await connection.execute(statement("keys", "version"))
    row = await cursor.fetchone()
    return int(row[0]) if row is not None else 0


async def live_keys(connection: AsyncConnection[Any]) -> dict[bytes, Caller]:
    """The callers of all keys that are not revoked, by the sha256 of their secrets."""
    values = {"limit": MOST_LIVE_KEYS}
    cursor = await connection.execute(statement("keys", "live"), values)
    return {bytes(row[0]): caller_of_row(row[1:]) for row in await cursor.fetchall()}
