"""Mails under way: each is seen through, also where the program does not wait for its answer."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

_log = logging.getLogger("ledger.gate")
_LAST_SECONDS = 30.0
"""How long mails that are under way may take when the gate is told to end."""
T = TypeVar("T")


class UnderWay:
    """The mails that are being asked for and handed over."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def see_through(self, mail: Coroutine[Any, Any, T]) -> T:
        """What became of it; it goes on where whoever waits is cancelled."""
        task = asyncio.create_task(mail)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def end(self) -> None:
        """Wait for them."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST_SECONDS)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """Note a failure also where the program that would have heard of it has gone."""
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a mail failed: %s", type(task.exception()).__name__)
