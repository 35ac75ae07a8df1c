"""Takes the log into one live read model, range by range; finds the event that cannot be taken."""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, errors

from projections.generations import Generation, apply_range
from projections.read_model import ReadModel
from projections.statements import one, statement

RANGE = 20_000
"""How many positions one transaction takes in at most."""


@dataclass(frozen=True, slots=True)
class Taken:
    """How far the live generation is now, and how far the log."""

    position: int
    head: int


class UnappliableEvent(Exception):
    """One event cannot be taken in; the message says which and why, and nothing of its content."""

    def __init__(self, name: str, position: int, reason: str) -> None:
        self.name = name
        self.position = position
        self.reason = reason
        super().__init__(f"read model {name} cannot take in position {position}: {reason}")


async def take_in(
    connection: AsyncConnection[Any], model: ReadModel, most: int = RANGE
) -> Taken | None:
    """Take up to `most` positions into the live generation, in one transaction.

    None where another process has the checkpoint, or where the generation is of another version
    of the program. In few round trips: this runs while the service is busy, and each waits for
    its turn. Raises psycopg.Error.
    """
    async with connection.pipeline(), connection.transaction():
        claimed = await connection.execute(statement("control", "claim"), {"name": model.name})
        seen = await connection.execute(statement("control", "head"))
        row, (head,) = await claimed.fetchone(), await seen.fetchone() or (0,)
        if row is None or row[1] != model.version:
            return None
        generation, position = Generation(model, row[0]), row[2]
        target = min(head, position + most)
        if target > position:
            await apply_range(connection, generation, position, target)
        return Taken(max(target, position), head)


async def isolate(connection: AsyncConnection[Any], model: ReadModel, most: int = RANGE) -> None:
    """After a failure take in what comes before the event at fault, by halving the range.

    Returns where the failure does not come again. Raises UnappliableEvent, having marked the read
    model as failed, and psycopg.Error.
    """
    size = most
    while size > 1:
        size = (size + 1) // 2
        try:
            await take_in(connection, model, size)
        except psycopg.Error as error:
            if not blames_the_event(error):
                raise
    try:
        await take_in(connection, model, 1)
    except psycopg.Error as error:
        if not blames_the_event(error):
            raise
        await _mark_failed(connection, model, f"{type(error).__name__} ({error.sqlstate})")


def blames_the_event(error: psycopg.Error) -> bool:
    """May the content of the range be the cause, rather than the connection or the server?

    A statement that ran out of time may be helped by a smaller range.
    """
    if isinstance(error, errors.QueryCanceled):
        return True
    replaced = (errors.UndefinedTable, errors.InvalidSchemaName)
    return not isinstance(error, (psycopg.OperationalError, *replaced))


async def _mark_failed(connection: AsyncConnection[Any], model: ReadModel, reason: str) -> None:
    """The reason names the error's kind only: a message could quote what an event holds."""
    async with connection.transaction():
        row = await one(connection, "control", "claim", name=model.name)
        if row is None:
            return
        failure = UnappliableEvent(model.name, row[2] + 1, reason)
        values = {"name": model.name, "generation": row[0], "position": failure.position}
        await connection.execute(statement("control", "fail"), {**values, "error": reason})
    raise failure
