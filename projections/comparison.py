"""Compares each live read model with one rebuilt from the whole log: they must be equal."""

from typing import Any

from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from projections.connecting import connect
from projections.generations import Generation, add_generation, apply_range
from projections.models import MODELS
from projections.read_model import ReadModel
from projections.statements import composed, one

_SHOWN = 20


async def differences(conninfo: str, policy: Policy | None = None, most: int = 5_000) -> list[str]:
    """The differences between the live generations and new ones built up to the same position.

    The new ones use this policy, by default that of the live ones. Each line names a table, the
    side that has the row, and the row; the list is empty if all is equal. Only the first few rows
    of each table are reported. The new generation exists only in a transaction that is rolled back,
    and the live one is not updated meanwhile: use it in tests and to check a suspicion, not
    regularly. Raises psycopg.Error.
    """
    found: list[str] = []
    async with await connect(conninfo, "compare") as connection:
        for model in MODELS.values():
            async with connection.transaction(force_rollback=True):
                found.extend(await _compare(connection, model, policy, most))
    return found


async def _compare(
    connection: AsyncConnection[Any], model: ReadModel, policy: Policy | None, most: int
) -> list[str]:
    number, position = await one(connection, "control", "hold_live", name=model.name)
    live = Generation(model, number)
    fresh = await add_generation(connection, model, policy or Policy())
    if policy is None and model.settings is not None:
        await connection.execute(
            composed("control", "copy_policy", live=live.schema, fresh=fresh.schema)
        )
    for after in range(0, position, most):
        await apply_range(connection, fresh, after, min(position, after + most))
    found: list[str] = []
    for table in model.tables:
        compared = composed("control", "compare", live=live.schema, fresh=fresh.schema, table=table)
        cursor = await connection.execute(compared, {"most": _SHOWN})
        found.extend(
            f"{model.name}.{table}, {side}: {row}" for side, row in await cursor.fetchall()
        )
    return found
