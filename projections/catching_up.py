"""Applies new events to one live read model, range by range, and finds an event that fails."""

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, errors

from projections.generations import Generation, apply_range
from projections.read_model import ReadModel
from projections.statements import one, statement

RANGE = 20_000
"""The maximum number of positions that one transaction applies."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The positions of the live generation and of the log after one range."""

    position: int
    head: int


class UnappliableEvent(Exception):
    """An event cannot be applied; the message has its position and the error, never its content."""

    def __init__(self, name: str, position: int, reason: str) -> None:
        self.name = name
        self.position = position
        self.reason = reason
        super().__init__(f"read model {name} cannot take in position {position}: {reason}")


async def take_in(
    connection: AsyncConnection[Any], model: ReadModel, most: int = RANGE
) -> Taken | None:
    """Apply up to `most` positions to the live generation, in one transaction.

    None where another process has locked the checkpoint, or where another version of the program
    built the generation. It makes few round trips, since each one has to wait for the event loop
    of a busy service. Raises psycopg.Error.
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
    """After a failure, apply the events before the one that fails; find it by halving the range.

    Returns if the failure does not occur again. Otherwise marks the read model as failed and
    raises UnappliableEvent. Raises psycopg.Error.
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
    """True where an event may be the cause of the error, not the connection or the server.

    A statement timeout counts: a smaller range may succeed.
    """
    if isinstance(error, errors.QueryCanceled):
        return True
    replaced = (errors.UndefinedTable, errors.InvalidSchemaName)
    return not isinstance(error, (psycopg.OperationalError, *replaced))


async def _mark_failed(connection: AsyncConnection[Any], model: ReadModel, reason: str) -> None:
    """Store the failure. `reason` is the error's class only: its message could quote an event."""
    async with connection.transaction():
        row = await one(connection, "control", "claim", name=model.name)
        if row is None:
            return
        failure = UnappliableEvent(model.name, row[2] + 1, reason)
        values = {"name": model.name, "generation": row[0], "position": failure.position}
        await connection.execute(statement("control", "fail"), {**values, "error": reason})
    raise failure
