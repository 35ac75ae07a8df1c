"""What waits for somebody, as counts for metrics: unknown permits, unseen alerts, feeds (D11)."""

from typing import Any

from psycopg import AsyncConnection

from ledger.store.statements import statement

AGES = ("under_1h", "1h_to_1d", "over_1d")
"""Labels for how long ago an unknown permit's `send_by` was: under an hour, a day, or longer."""


async def read_counts(connection: AsyncConnection[Any]) -> list[tuple[str, str, float]]:
    """(what, of which, how many), without personal data. Raises psycopg.Error.

    `unknown` permits by their age, `unseen` alerts by their kind, and of each `feed`, of the 50
    heard last, the seconds since it was heard.
    """
    cursor = await connection.execute(statement("status", "counts"))
    return [(what, which, float(number)) for what, which, number in await cursor.fetchall()]
