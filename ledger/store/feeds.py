"""Sources of facts: when each was heard, what became of its facts, and which are silent.

Every function works on any psycopg connection in autocommit mode and raises psycopg.Error.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from ledger.store.statements import statement

MOST_FEEDS = 10_000
"""So many sources are remembered: a sender that invents sources must not fill the disk."""
_FOLDER = "feeds"
_MOST_SILENT = 20
_RESULTS = ("applied", "duplicate", "stale", "ignored", "rejected")


@dataclass(frozen=True, slots=True)
class HeardFacts:
    """What was heard of a source: the latest time (UTC), and how many facts had which result."""

    source: str
    at: datetime
    tells_of_money: bool
    applied: int
    duplicate: int
    stale: int
    ignored: int
    rejected: int


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A source as it is listed; times are UTC, `silent_since` is None while it is heard."""

    source: str
    first_heard_at: datetime
    last_heard_at: datetime
    tells_of_money: bool
    silent_since: datetime | None
    results: Mapping[str, int]


async def note_heard(connection: AsyncConnection[Any], heard: Iterable[HeardFacts]) -> None:
    """Add what was heard since it was noted last."""
    rows = [asdict(facts) | {"at": facts.at.isoformat()} for facts in heard]
    await connection.execute(statement(_FOLDER, "note"), {"heard": Jsonb(rows), "most": MOST_FEEDS})


async def silent_feeds(connection: AsyncConnection[Any], hours: int) -> list[tuple[str, datetime]]:
    """Up to 20 sources not heard for so many hours, whose silence nobody noted; when last heard."""
    cursor = await connection.execute(
        statement(_FOLDER, "silent"), {"hours": hours, "limit": _MOST_SILENT}
    )
    return [(source, heard_at) for source, heard_at in await cursor.fetchall()]


async def note_silence(connection: AsyncConnection[Any], source: str, heard_at: datetime) -> None:
    """The log tells of this silence now; a source that was heard since is left alone."""
    values = {"source": source, "heard_at": heard_at}
    await connection.execute(statement(_FOLDER, "silence_noted"), values)


async def list_feeds(
    connection: AsyncConnection[Any], after: str, limit: int
) -> tuple[list[FeedRow], bool]:
    """Up to `limit` sources after this one, by name, and whether there are more."""
    values = {"after": after, "limit": limit + 1}
    cursor = await connection.execute(statement(_FOLDER, "list"), values)
    rows = await cursor.fetchall()
    found = [_row(row) for row in rows[:limit]]
    return found, len(rows) > limit


def _row(row: Any) -> FeedRow:
    source, first, last, tells_of_money, silent_since, *counts = row
    results = dict(zip(_RESULTS, counts, strict=True))
    return FeedRow(source, first, last, tells_of_money, silent_since, results)
