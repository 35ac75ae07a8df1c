"""Generations of read models: makes the schema of each, fills it by ranges, opens it for reads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from ledger.domain.policy import Policy
from projections.read_model import ReadModel
from projections.statements import composed, one, statement


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of a read model."""

    model: ReadModel
    number: int

    @property
    def schema(self) -> str:
        """The schema of its tables; must equal the SQL function `projection_schema`."""
        return f"projection_{self.model.name}_{self.number}"

    @property
    def key(self) -> dict[str, Any]:
        """The parameters that identify it in statements."""
        return {"name": self.model.name, "generation": self.number}


async def add_generation(
    connection: AsyncConnection[Any], model: ReadModel, policy: Policy
) -> Generation:
    """Make a new, empty generation that is not live, in the caller's transaction."""
    digest = model.policy_digest(policy)
    row = await one(
        connection,
        "control",
        "add_generation",
        name=model.name,
        version=model.version,
        policy=digest,
    )
    generation = Generation(model, row[0])
    await connection.execute(composed("control", "create_schema", schema=generation.schema))
    await one(connection, "control", "enter", **generation.key)
    await connection.execute(statement("shared", "create"))
    await connection.execute(statement(model.name, "create"))
    await keep_policy(connection, generation, policy)
    return generation


async def keep_policy(
    connection: AsyncConnection[Any], generation: Generation, policy: Policy
) -> None:
    """Store in an empty generation the part of the policy by which it is computed."""
    if generation.model.settings is None:
        return
    values = generation.model.settings(policy)
    for name, value in values.items():
        if isinstance(value, dict):
            values[name] = Jsonb(value)
    await one(connection, "control", "enter", **generation.key)
    await connection.execute(statement(generation.model.name, "policy"), values)


async def apply_range(
    connection: AsyncConnection[Any], generation: Generation, after: int, upto: int
) -> None:
    """Apply the positions (after, upto] and move the checkpoint, in the caller's transaction.

    Raises psycopg.Error.
    """
    await connection.execute(statement("control", "enter"), generation.key)
    for step in generation.model.steps:
        await connection.execute(
            statement(generation.model.name, step), {"after": after, "upto": upto}
        )
    await connection.execute(
        statement("control", "checkpoint"), {**generation.key, "position": upto}
    )


async def head_of_log(connection: AsyncConnection[Any]) -> int:
    """The position of the last event, 0 in an empty log."""
    row = await one(connection, "control", "head")
    position: int = row[0]
    return position


@asynccontextmanager
async def entered(connection: AsyncConnection[Any]) -> AsyncIterator[None]:
    """A transaction whose search path has the schemas of all live read models."""
    async with connection.transaction():
        await connection.execute(statement("control", "enter_all"))
        yield
