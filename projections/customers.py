"""The read model `customers`: breakers, holds, addresses, merges, and mails by rolling window."""

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


async def open_breakers(connection: AsyncConnection[Any]) -> list[str]:
    """The ids of the customers whose breaker is open, in order. Raises psycopg.Error."""
    async with entered(connection):
        cursor = await connection.execute(statement("customers", "open_breakers"))
        return [row[0] for row in await cursor.fetchall()]
