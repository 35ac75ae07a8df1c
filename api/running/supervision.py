"""Restarts background tasks when they fail, with a growing pause between attempts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

_log = logging.getLogger("ledger.supervision")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0


class Supervisor:
    """Runs the background tasks of one process."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        """Run `work()` until it returns; restart it each time it raises."""
        self._keep(asyncio.create_task(self._again_and_again(name, work), name=name))

    def once(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine once, and log errors."""
        self._keep(asyncio.create_task(self._logged(name, work), name=name))

    async def stop(self) -> None:
        """Cancel every task and wait for its end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _again_and_again(name: str, work: Callable[[], Awaitable[object]]) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                await work()
                return
            except Exception as error:
                _log.warning("%s failed and is started again: %s", name, type(error).__name__)
                _log.debug("why it failed", exc_info=True)
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 2)

    @staticmethod
    async def _logged(name: str, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except Exception:
            _log.exception("%s failed", name)
