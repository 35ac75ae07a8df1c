"""Reads from the log what people did in an incident: switches, and breakers closed (D13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.domain.control import CONTROL_ID
from ledger.domain.identity import aggregate_id
from ledger.store.statements import statement


@dataclass(frozen=True, slots=True)
class Switched:
    """A control event: `name` is Paused, Resumed, GuardChecked, RecoveryEntered or …Ended.

    `fields` is the event's state. The time is UTC.
    """

    position: int
    name: str
    fields: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Closed:
    """Somebody closed the breakers of so many customers for a reason, the first at `at` (UTC)."""

    by: str
    reason: str
    customers: int
    at: datetime


async def breakers_closed(
    connection: AsyncConnection[Any],
    customer_ids: Sequence[str],
    since: datetime,
    until: datetime,
    limit: int,
) -> list[Closed]:
    """Who closed breakers of these customers in a time, by reason. Raises psycopg.Error."""
    values = {
        "customers": [aggregate_id("customer", name) for name in customer_ids],
        "since": since,
        "until": until,
        "limit": limit,
    }
    text = statement("incidents", "breaker_resets")
    rows = await (await connection.execute(text, values)).fetchall()
    return [Closed(*row) for row in rows]


async def switches_since(
    connection: AsyncConnection[Any], since: datetime, limit: int
) -> list[Switched]:
    """The ledger's control events since a time, oldest first. Raises psycopg.Error."""
    values = {"control": CONTROL_ID, "since": since, "limit": limit}
    rows = await (await connection.execute(statement("incidents", "control"), values)).fetchall()
    return [
        Switched(position, topic.rpartition(".")[2], state, at)
        for position, topic, state, at in rows
    ]
