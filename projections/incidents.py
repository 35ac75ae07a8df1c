"""The read model `incidents`: the incidents that people declared, newest first (design D14)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection

from projections.generations import entered
from projections.read_model import ReadModel
from projections.statements import statement

INCIDENTS = ReadModel(
    name="incidents",
    version=1,
    tables=("incidents",),
    steps=("declared", "closed"),
)
_BEYOND = 2**63 - 1


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident as a list shows it; its window is half-open, times are UTC."""

    position: int
    incident_id: str
    title: str
    cause: str
    window_from: datetime
    window_to: datetime
    declared_by: str
    declared_at: datetime
    closed_by: str | None
    closed_at: datetime | None


async def list_incidents(
    connection: AsyncConnection[Any], limit: int, before: int | None = None
) -> list[IncidentRow]:
    """Incidents, newest first, declared before that log position. Raises psycopg.Error."""
    values = {"limit": limit, "before": _BEYOND if before is None else before}
    async with entered(connection):
        cursor = await connection.execute(statement("incidents", "list"), values)
        return [IncidentRow(*row) for row in await cursor.fetchall()]
