"""The refresh queue: changed objects that must be fetched from a provider's API (D10).

One row per object until it is fetched. Retries and claims use real time, so that a stopped test
clock does not stop fetching; the times that people see are the ledger's. Every function works on
any psycopg connection in autocommit mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection

from ledger.store.statements import statement

CLAIM = timedelta(minutes=2)
"""How long a claim lasts: longer than the timeout of one fetch."""
_FOLDER = "refresh"

Connection = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class RefreshRow:
    """An object to be fetched, as a list shows it; times are the ledger's (UTC)."""

    refresh_id: int
    provider: str
    object_kind: str
    object_id: str
    hints: int
    first_hinted_at: datetime
    last_hinted_at: datetime
    attempts: int
    last_error: str | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """An object that this process has claimed; `hints` counts its hints when it was claimed."""

    refresh_id: int
    provider: str
    object_kind: str
    object_id: str
    hints: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Overdue:
    """A provider's oldest overdue object, and the number of its overdue objects."""

    provider: str
    refresh_id: int
    first_hinted_at: datetime
    count: int


async def hint(connection: Connection, provider: str, object_kind: str, object_id: str) -> None:
    """Queue a changed object; it is due at once, even where fetching it failed before."""
    await connection.execute(
        statement(_FOLDER, "hint"),
        {"provider": provider, "object_kind": object_kind, "object_id": object_id},
    )


async def claim(connection: Connection, providers: Sequence[str], limit: int) -> list[Claimed]:
    """Claim up to `limit` due objects of these providers, the longest due first."""
    cursor = await connection.execute(
        statement(_FOLDER, "claim"),
        {"providers": list(providers), "limit": limit, "claim": CLAIM},
    )
    return [Claimed(*row) for row in await cursor.fetchall()]


async def fetched(connection: Connection, work: Claimed) -> None:
    """Delete the row of a fetched object; if a newer hint came meanwhile, end its claim instead."""
    values = {"refresh_id": work.refresh_id, "hints": work.hints}
    cursor = await connection.execute(statement(_FOLDER, "done"), values)
    if not cursor.rowcount:
        await _release(connection, work, None, timedelta(0))


async def failed(connection: Connection, work: Claimed, error: str, pause: timedelta) -> None:
    """End the claim of a failed fetch; it is retried after the pause.

    `error` must contain no value from the provider's response.
    """
    await _release(connection, work, error, pause)


async def list_refresh(
    connection: Connection, *, limit: int, after: int = 0, provider: str | None = None
) -> list[RefreshRow]:
    """The queued objects, ordered by id."""
    cursor = await connection.execute(
        statement(_FOLDER, "list"), {"limit": limit, "after": after, "provider": provider}
    )
    return [RefreshRow(*row) for row in await cursor.fetchall()]


async def remove_refresh(connection: Connection, refresh_id: int) -> bool:
    """Remove an object that a person has dealt with; False where the id is not in the queue."""
    cursor = await connection.execute(statement(_FOLDER, "remove"), {"refresh_id": refresh_id})
    return cursor.rowcount > 0


async def waiting(connection: Connection) -> dict[str, int]:
    """The number of queued objects, by provider."""
    cursor = await connection.execute(statement(_FOLDER, "waiting"))
    return dict(await cursor.fetchall())


async def overdue(connection: Connection, minutes: int) -> list[Overdue]:
    """The objects queued for more than `minutes` by the ledger's clock, summed up by provider."""
    cursor = await connection.execute(statement(_FOLDER, "overdue"), {"minutes": minutes})
    return [Overdue(*row) for row in await cursor.fetchall()]


async def _release(
    connection: Connection, work: Claimed, error: str | None, pause: timedelta
) -> None:
    values = {"refresh_id": work.refresh_id, "hints": work.hints, "error": error, "pause": pause}
    await connection.execute(statement(_FOLDER, "release"), values)
