"""Reads the state of the read models for `GET /v1/projections` and the command line."""

from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from projections.statements import statement


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """One read model: the position it has reached, and the age of its oldest unprocessed event.

    `lag` is in seconds of the ledger's clock, 0 where it is up to date; `behind` counts events;
    `state` is `live`, `rebuilding` (readers use the live generation meanwhile) or `failed`; then
    `failed_position` and `error` have the event's position and the reason.
    """

    name: str
    position: int
    lag: float
    state: str
    generation: int
    behind: int
    failed_position: int | None
    error: str | None


async def status(connection: AsyncConnection[Any]) -> list[ProjectionStatus]:
    """Every read model, by name. Raises psycopg.Error."""
    cursor = await connection.execute(statement("control", "status"))
    return [
        ProjectionStatus(name, position, lag, state, generation, head - position, failed, error)
        for name, generation, position, head, state, lag, failed, error in await cursor.fetchall()
    ]
