"""Rebuilds a read model beside the live one, then switches readers by a pointer row (design D15).

It reads the log and writes to its own tables only: it never pages, mails or calls an API.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.application.clock import stopwatch
from ledger.domain.policy import Policy
from projections.catching_up import RANGE
from projections.connecting import connect
from projections.generations import Generation, add_generation, apply_range, head_of_log
from projections.models import MODELS, model_named
from projections.read_model import ReadModel
from projections.statements import composed, one, statement
from projections.status import ProjectionStatus, status
from projections.views import is_read, point_views

__all__ = ["ProjectionStatus", "RebuildRunning", "rebuild", "rebuild_outdated", "status"]

_log = logging.getLogger("projections.rebuild")

_REBUILD_KEY = 720_341_288
_DROP_TRIES_FOR = 10.0
Progress = Callable[[int, int], None]
"""Called after each range with the number of positions applied and their total."""


class RebuildRunning(RuntimeError):
    """Another process is rebuilding this read model."""


async def rebuild(
    conninfo: str,
    name: str,
    policy: Policy,
    progress: Progress | None = None,
    most: int = RANGE,
) -> Generation:
    """Build a new generation from the log's beginning, make it the live one, drop the old one.

    Each range of `most` positions is one transaction, so memory and locks are bounded. An
    interrupted rebuild continues where it stopped. Readers use the live generation until the
    switch, which never moves them back to an earlier position. Raises UnknownReadModel,
    RebuildRunning, psycopg.Error.
    """
    model = model_named(name)
    async with _rebuilding(conninfo, name) as connection:
        return await _rebuild(connection, model, policy, progress or _silent, most)


async def rebuild_outdated(
    conninfo: str, policy: Policy, progress: Callable[[str, int, int], None] | None = None
) -> list[str]:
    """Rebuild read models of an older version or another policy; returns their names.

    `progress` is called with the name, the positions applied and their total. A read model that
    another process is rebuilding is skipped. Raises psycopg.Error.
    """
    done = []
    for name, model in MODELS.items():
        with contextlib.suppress(RebuildRunning):
            async with _rebuilding(conninfo, name) as connection:
                # Checked under the lock: another process may have just rebuilt it.
                if await _is_current(connection, model, policy):
                    continue
                await _rebuild(connection, model, policy, _named(name, progress), RANGE)
                done.append(name)
    return done


@contextlib.asynccontextmanager
async def _rebuilding(conninfo: str, name: str) -> AsyncIterator[AsyncConnection[Any]]:
    """A connection with the lock of this read model's rebuild. Raises RebuildRunning."""
    async with await connect(conninfo, f"rebuild {name}") as connection:
        row = await one(connection, "control", "try_rebuild", key=_REBUILD_KEY, name=name)
        if not row[0]:
            raise RebuildRunning(f"read model {name} is being rebuilt already")
        try:
            yield connection
        finally:
            # Closing the connection releases the lock too, but a moment later.
            with contextlib.suppress(psycopg.Error):
                await one(connection, "control", "end_rebuild", key=_REBUILD_KEY, name=name)


async def _is_current(connection: AsyncConnection[Any], model: ReadModel, policy: Policy) -> bool:
    cursor = await connection.execute(statement("control", "live"))
    found = {name: (version, digest) for name, version, digest in await cursor.fetchall()}
    return found.get(model.name) == (model.version, model.policy_digest(policy))


async def _rebuild(
    connection: AsyncConnection[Any],
    model: ReadModel,
    policy: Policy,
    progress: Progress,
    most: int,
) -> Generation:
    generation = await _begin(connection, model, policy)
    await _fill(connection, generation, most, progress)
    old, position = await _switch(connection, generation, most)
    progress(position, position)
    await _drop_when_unread(connection, old)
    return generation


async def _begin(connection: AsyncConnection[Any], model: ReadModel, policy: Policy) -> Generation:
    """A generation to fill: an interrupted one, or a new one; drops other leftovers."""
    cursor = await connection.execute(statement("control", "leftovers"), {"name": model.name})
    found: Generation | None = None
    for number, version, digest, state, _ in await cursor.fetchall():
        generation = Generation(model, number)
        same = (version, digest) == (model.version, model.policy_digest(policy))
        if found is None and state == "building" and same:
            found = generation
        else:
            await _drop_when_unread(connection, generation)
    if found is not None:
        return found
    async with connection.transaction():
        return await add_generation(connection, model, policy)


async def _fill(
    connection: AsyncConnection[Any], generation: Generation, most: int, progress: Progress
) -> None:
    """Apply the log until less than one range is left."""
    while True:
        position = (await one(connection, "control", "checkpoint_of", **generation.key))[0]
        head = await head_of_log(connection)
        progress(position, head)
        if head - position < most:
            return
        async with connection.transaction():
            await apply_range(connection, generation, position, position + most)


async def _switch(
    connection: AsyncConnection[Any], generation: Generation, most: int
) -> tuple[Generation, int]:
    """Apply the rest and move the pointer, in one transaction.

    Returns the old generation, and the position of the new one.
    """
    async with connection.transaction():
        row = await one(connection, "control", "hold_live", name=generation.model.name)
        old = Generation(generation.model, row[0])
        position = (await one(connection, "control", "checkpoint_of", **generation.key))[0]
        head = await head_of_log(connection)
        while position < head:
            upto = min(head, position + most)
            await apply_range(connection, generation, position, upto)
            position = upto
        await connection.execute(statement("control", "point"), generation.key)
        for each, state in ((old, "retired"), (generation, "live")):
            await connection.execute(statement("control", "mark"), {**each.key, "state": state})
    return old, position


async def _drop_when_unread(connection: AsyncConnection[Any], generation: Generation) -> None:
    """Drop a generation once nobody reads it; after a timeout the next rebuild drops it.

    The views for analysts are pointed to the live generations first.
    """
    deadline = stopwatch() + _DROP_TRIES_FOR
    while True:
        await point_views(connection)
        async with connection.transaction():
            unread = not await is_read(connection, generation.schema)
            if unread and (await one(connection, "control", "try_drop"))[0]:
                dropped = composed("control", "drop_schema", schema=generation.schema)
                await connection.execute(dropped)
                await connection.execute(statement("control", "forget"), generation.key)
                return
        if stopwatch() > deadline:
            _log.warning("%s is still being read; it is dropped later", generation.schema)
            return
        await asyncio.sleep(0.05)


def _named(
    name: str, progress: Callable[[str, int, int], None] | None
) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(name, done, total)

    return report


def _silent(done: int, total: int) -> None:
    """The default progress callback: does nothing."""
