"""Tokens of webhook signatures that do not cover the body: each is taken for one body only."""

from typing import Any

from psycopg import AsyncConnection

from ledger.store.statements import statement

_FOLDER = "webhooks"
KEPT_HOURS = 48
"""Longer than any provider's signature with a token stays fresh."""


async def take_token(
    connection: AsyncConnection[Any], provider: str, token: str, body: bytes
) -> bool:
    """Note the token with its body; False where it came with another body before.

    A provider that tries again posts the same body with the same token, which is taken again.
    """
    cursor = await connection.execute(
        statement(_FOLDER, "take_token"),
        {"provider": provider, "token": token.encode(), "body": body},
    )
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


async def clear_old_tokens(connection: AsyncConnection[Any], limit: int = 50_000) -> int:
    """Delete at most `limit` tokens that are no longer fresh; returns how many."""
    cursor = await connection.execute(
        statement(_FOLDER, "clear_tokens"), {"hours": KEPT_HOURS, "limit": limit}
    )
    return cursor.rowcount
