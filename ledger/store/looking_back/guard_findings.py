"""Reads decisions, clocks and durability settings from the store for a guard check (D13)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.store.log.timeouts import Timeouts
from ledger.store.statements import statement

DURABLE = {
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "synchronous_commit": ("on", "remote_apply"),
}
"""The settings that a durable store needs, and their allowed values."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision's status and position in the decision log, and the head of the log when read."""

    status: int
    position: int
    head: int


async def recorded_decisions(
    connection: AsyncConnection[Any], decision_ids: Iterable[str]
) -> dict[str, RecordedDecision]:
    """The decision log's rows of these decisions, by id. Raises psycopg.Error."""
    values = {"decisions": list(decision_ids)}
    cursor = await connection.execute(statement("guard", "decisions"), values)
    rows = await cursor.fetchall()
    return {id_: RecordedDecision(status, at, head) for id_, status, at, head in rows}


async def database_times(
    connection: AsyncConnection[Any],
) -> tuple[datetime, datetime | None]:
    """The database's clock and the time of the last event (UTC). Raises psycopg.Error."""
    row = await (await connection.execute(statement("guard", "clock"))).fetchone()
    assert row is not None
    return row[0], row[1]


async def durability(conninfo: str) -> dict[str, str]:
    """The settings named in DURABLE, as a writer session has them. Raises psycopg.Error."""
    timeouts = Timeouts()
    async with await AsyncConnection.connect(
        conninfo,
        autocommit=True,
        connect_timeout=timeouts.connect // 1000,
        options=timeouts.options,
        application_name="send-ledger guard check",
    ) as connection:
        cursor = await connection.execute(statement("guard", "durability"))
        return dict(await cursor.fetchall())
