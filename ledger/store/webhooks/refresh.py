"""Work to be fetched: objects that changed at a provider and that only its API can tell (D10).

One row per object until it was fetched. Tries and claims go by real time, so that a stopped test
clock stops no fetch; what people see goes by the ledger's. Every function works on any psycopg
connection in autocommit mode.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection

from ledger.store.statements import statement

CLAIM = timedelta(minutes=2)
"""How long a claim holds: longer than one fetch may take."""
_FOLDER = "refresh"

Connection = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class RefreshRow:
    """An object to be fetched, as it is listed; times are the ledger's (UTC)."""

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
    """An object that this process fetches now; `hints` is how often it had been hinted at."""

    refresh_id: int
    provider: str
    object_kind: str
    object_id: str
    hints: int
    attempts: int


@dataclass(frozen=True, slots=True)
class Overdue:
    """The oldest object of a provider that has waited too long, and how many have."""

    provider: str
    refresh_id: int
    first_hinted_at: datetime
    count: int


async def hint(connection: Connection, provider: str, object_kind: str, object_id: str) -> None:
    """Note that an object changed; it is due at once, also where fetching it had failed."""
    await connection.execute(
        statement(_FOLDER, "hint"),
        {"provider": provider, "object_kind": object_kind, "object_id": object_id},
    )


async def claim(connection: Connection, providers: Sequence[str], limit: int) -> list[Claimed]:
    """Take up to `limit` due objects of these providers, longest due first."""
    cursor = await connection.execute(
        statement(_FOLDER, "claim"),
        {"providers": list(providers), "limit": limit, "claim": CLAIM},
    )
    return [Claimed(*row) for row in await cursor.fetchall()]


async def fetched(connection: Connection, work: Claimed) -> None:
    """It was fetched: the row goes, or is free again where a newer hint came meanwhile."""
    values = {"refresh_id": work.refresh_id, "hints": work.hints}
    cursor = await connection.execute(statement(_FOLDER, "done"), values)
    if not cursor.rowcount:
        await _release(connection, work, None, timedelta(0))


async def failed(connection: Connection, work: Claimed, error: str, pause: timedelta) -> None:
    """It could not be fetched; `error` holds no value of an answer. Tried again after the pause."""
    await _release(connection, work, error, pause)


async def list_refresh(
    connection: Connection, *, limit: int, after: int = 0, provider: str | None = None
) -> list[RefreshRow]:
    """What waits to be fetched, by id."""
    cursor = await connection.execute(
        statement(_FOLDER, "list"), {"limit": limit, "after": after, "provider": provider}
    )
    return [RefreshRow(*row) for row in await cursor.fetchall()]


async def remove_refresh(connection: Connection, refresh_id: int) -> bool:
    """A person has seen to it; false where nothing of that id waits."""
    cursor = await connection.execute(statement(_FOLDER, "remove"), {"refresh_id": refresh_id})
    return cursor.rowcount > 0


async def waiting(connection: Connection) -> dict[str, int]:
    """How many objects wait to be fetched, by provider."""
    cursor = await connection.execute(statement(_FOLDER, "waiting"))
    return dict(await cursor.fetchall())


async def overdue(connection: Connection, minutes: int) -> list[Overdue]:
    """What has waited for more than `minutes` by the ledger's clock, by provider."""
    cursor = await connection.execute(statement(_FOLDER, "overdue"), {"minutes": minutes})
    return [Overdue(*row) for row in await cursor.fetchall()]


async def _release(
    connection: Connection, work: Claimed, error: str | None, pause: timedelta
) -> None:
    values = {"refresh_id": work.refresh_id, "hints": work.hints, "error": error, "pause": pause}
    await connection.execute(statement(_FOLDER, "release"), values)
