"""Makes the read side's tables that are missing; safe when several processes start at once."""

import asyncio
from typing import Any

from psycopg import AsyncConnection

from ledger.domain.policy import Policy
from projections.generations import add_generation
from projections.models import MODELS
from projections.statements import one, statement
from projections.views import point_views

SCHEMA_LOCK = 7_203_412_884


async def prepare(conninfo: str, policy: Policy) -> None:
    """Make the missing tables: the list of generations, a first one of each read model, the views.

    A generation of an older version, or of another policy, stays live until `rebuild_outdated`
    replaces it. The ledger's migrations must have run before. Raises psycopg.Error.
    """
    async with await AsyncConnection.connect(
        conninfo, application_name="send-ledger projections"
    ) as connection:
        await prepare_on(connection, policy)


async def prepare_on(connection: AsyncConnection[Any], policy: Policy) -> None:
    """As `prepare`, on this connection."""
    async with connection.transaction():
        await one(connection, "control", "lock", key=SCHEMA_LOCK)
        await connection.execute(statement("control", "create"))
        cursor = await connection.execute(statement("control", "live"))
        live = {row[0] for row in await cursor.fetchall()}
        for name, model in MODELS.items():
            if name in live:
                continue
            generation = await add_generation(connection, model, policy)
            await connection.execute(
                statement("control", "mark"), {**generation.key, "state": "live"}
            )
            await connection.execute(statement("control", "point"), generation.key)
        await point_views(connection)


def prepare_projections(conninfo: str, policy: Policy) -> None:
    """As `prepare`, synchronously: for the command line."""
    asyncio.run(prepare(conninfo, policy))
