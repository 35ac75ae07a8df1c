"""The read model `customers`: breakers, holds, addresses, merges, and mails by rolling window."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from projections.generations import entered
from projections.read_model import ReadModel
from projections.statements import statement

CUSTOMERS = ReadModel(
    name="customers",
    version=4,
    tables=("customers", "held_addresses", "mails", "merged"),
    steps=("merges", "parted", "owners", "fold", "addresses", "grants", "outcomes"),
)


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """A customer's open breaker: which mails it denies, since when (UTC) and why."""

    customer_id: str
    scope: str
    opened_at: datetime
    cause: str


async def list_breakers(
    connection: AsyncConnection[Any], limit: int, after: str = ""
) -> list[OpenBreaker]:
    """Open breakers by customer id, from the one after `after`. Raises psycopg.Error."""
    values = {"limit": limit, "after": after}
    async with entered(connection):
        cursor = await connection.execute(statement("customers", "breakers"), values)
        return [OpenBreaker(*row) for row in await cursor.fetchall()]


async def open_breakers(
    connection: AsyncConnection[Any], since: datetime | None = None
) -> list[str]:
    """The ids of the customers whose breaker is open, in order. Raises psycopg.Error.

    With `since` only breakers that opened then (UTC) or later.
    """
    async with entered(connection):
        cursor = await connection.execute(statement("customers", "open_breakers"), {"since": since})
        return [row[0] for row in await cursor.fetchall()]


async def count_breakers(connection: AsyncConnection[Any]) -> dict[str, int]:
    """How many breakers are open, by their scope. Raises psycopg.Error."""
    async with entered(connection):
        cursor = await connection.execute(statement("customers", "breaker_counts"))
        return dict(await cursor.fetchall())
