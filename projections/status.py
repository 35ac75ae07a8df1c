"""How far the read models are: what `GET /v1/projections` and the command line show."""

from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection

from projections.statements import statement


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """One read model: the position it has passed, and the age of the oldest event it has not.

    `lag` is in seconds of the ledger's clock, 0 where it is up to date; `behind` counts events;
    `state` is `live`, `rebuilding` (the live generation serves meanwhile) or `failed`, and then
    `failed_position` and `error` say at which event and why.
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
