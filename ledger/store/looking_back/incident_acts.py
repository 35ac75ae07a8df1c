"""Reads from the log what people did in an incident: pauses, resumes and guard checks (D13)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from ledger.domain.control import CONTROL_ID
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
