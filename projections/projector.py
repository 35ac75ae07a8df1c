"""Keeps the live read models up to date: a supervised task with its own connection (D15)."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.application.clock import stopwatch
from projections.catching_up import (
    RANGE,
    UnappliableEvent,
    blames_the_event,
    isolate,
    take_in,
)
from projections.connecting import connect
from projections.models import MODELS
from projections.read_model import ReadModel
from projections.statements import one

_log = logging.getLogger("projections.projector")

_LONGEST_PAUSE = 5.0
_SHORTEST_LOOK = 0.005
_LONGEST_LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Trouble:
    """A read model that failed at an event, or has been behind for too long (`lag`, seconds).

    `key` stays the same during one such period: it dedupes the alert.
    """

    name: str
    position: int
    lag: float
    reason: str

    @property
    def key(self) -> str:
        """The dedupe key of the `projection_lag` alert."""
        return f"projection_lag:{self.name}:{self.position}"


Alert = Callable[[Trouble], Awaitable[None]]


@dataclass(slots=True)
class Progress:
    """A read model's progress as this process last saw it; times are stopwatch seconds."""

    position: int = 0
    behind_since: float | None = None
    failed_position: int | None = None
    retry_at: float = 0.0
    told: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    """A reader who waits for a position of some read models."""

    position: int
    awaited: list[Progress]
    future: asyncio.Future[None]

    @property
    def lacking(self) -> int:
        """How many of the read models have not reached the position."""
        return sum(p.position < self.position for p in self.awaited)

    @property
    def hopeful(self) -> bool:
        """True while a read model that has not failed is behind the position."""
        return any(p.position < self.position and p.failed_position is None for p in self.awaited)

    def answer(self) -> None:
        """Wake the reader."""
        if not self.future.done():
            self.future.set_result(None)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The projector's intervals, in seconds.

    It polls every `idle` seconds. After `wake` it works again `interval` after its last round; a
    waiting reader makes it work at once. A failed read model is retried after `retry`; one that
    has been behind for `alert_after` raises an alert.
    """

    interval: float = 0.25
    idle: float = 1.0
    retry: float = 30.0
    alert_after: float = 60.0


class Projector:
    """Applies new events to every live read model; several processes may each run one."""

    def __init__(
        self,
        conninfo: str,
        *,
        alert: Alert | None = None,
        rhythm: Rhythm | None = None,
        models: tuple[ReadModel, ...] = tuple(MODELS.values()),
        most: int = RANGE,
    ) -> None:
        self.rhythm = rhythm or Rhythm()
        self.head = 0
        self.rounds = 0
        self.progress = {model.name: Progress() for model in models}
        self._conninfo = conninfo
        self._alert = alert
        self._models = models
        self._most = most
        self._waiters: list[_Waiter] = []
        self._signal = asyncio.Event()
        self._woken = True
        self._closing = False
        self._last_round = -_LONGEST_PAUSE
        self._look_again = 0.0
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the task; it retries until the database answers."""
        self._task = asyncio.create_task(self._supervise(), name="projector")

    async def stop(self) -> None:
        """Stop after the current range."""
        self._closing = True
        self._signal.set()
        if self._task is not None:
            await self._task
        for waiter in self._waiters:
            waiter.answer()

    def wake(self) -> None:
        """Signal that the log has new events; cheap enough to be called at every commit."""
        if not self._woken:
            self._woken = True
            self._signal.set()

    @property
    def position(self) -> int:
        """The position that every read model has reached, as far as this process knows."""
        return self.passed(self.progress)

    def passed(self, names: Collection[str]) -> int:
        """The position that all these read models have reached, as far as this process knows."""
        return min((self.progress[name].position for name in names), default=self.head)

    @property
    def lag(self) -> float:
        """How long the slowest read model has been behind the log, in seconds; 0 if none is."""
        return max((self._lag_of(p) for p in self.progress.values()), default=0.0)

    def lag_of(self, name: str) -> float:
        """How long this read model has been behind the log, in seconds; 0 if it is not."""
        return self._lag_of(self.progress[name])

    async def wait_for(
        self, position: int, timeout: float, names: Collection[str] | None = None
    ) -> float:
        """Wait until these read models (None: all) have reached the position, at most `timeout` s.

        Returns 0, or how long the slowest has been behind, in seconds. Does not wait where one of
        them has failed.
        """
        awaited = [self.progress[name] for name in (self.progress if names is None else names)]
        waiter = _Waiter(position, awaited, asyncio.get_running_loop().create_future())
        if waiter.lacking == 0:
            return 0.0
        since = stopwatch()
        self._waiters.append(waiter)
        self._look_again = 0.0
        self._signal.set()
        try:
            await asyncio.wait_for(waiter.future, timeout)
        except TimeoutError:
            pass
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
        if waiter.lacking == 0:
            return 0.0
        return max(*(self._lag_of(p) for p in awaited), stopwatch() - since, 0.001)

    async def _supervise(self) -> None:
        """Work until stopped; after any failure, pause and open a new connection."""
        pause = 0.1
        while not self._closing:
            try:
                async with await connect(self._conninfo, "projector") as connection:
                    while not self._closing:
                        await self._rest()
                        await self._round(connection)
                        pause = 0.1
            except (psycopg.Error, OSError) as error:
                _log.warning("the projector lost its database: %s", type(error).__name__)
            except Exception:
                _log.exception("the projector failed in a way that was not foreseen")
            if not self._closing:
                await self._sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _sleep(self, seconds: float) -> None:
        """Sleep; `stop` ends the sleep early."""
        until = stopwatch() + seconds
        while not self._closing and (left := until - stopwatch()) > 0:
            await self._signalled(left)

    async def _rest(self) -> None:
        """Wait until the next round is due: at once if a reader waits, else by the intervals."""
        while not self._closing:
            if self._waiters:
                pause = self._look_again
            else:
                every = self.rhythm.interval if self._woken else self.rhythm.idle
                pause = self._last_round + every - stopwatch()
            if pause <= 0:
                return
            if not await self._signalled(pause):
                return

    async def _signalled(self, seconds: float) -> bool:
        self._signal.clear()
        try:
            await asyncio.wait_for(self._signal.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _round(self, connection: AsyncConnection[Any]) -> None:
        """Apply all new events; if another process does so already, poll again soon."""
        self._woken = False
        row = await one(connection, "control", "watch")
        self.head, found = row
        for name, (position, failed) in found.items():
            if name in self.progress:
                self._saw(name, position, failed)
        moved = False
        for model in self._models:
            if model.name in found:
                moved = await self._advance(connection, model) or moved
                self._answer_waiters()
        self.rounds += 1
        self._last_round = stopwatch()
        if moved:
            self._look_again = 0.0
        else:
            self._look_again = min(max(_SHORTEST_LOOK, self._look_again * 2), _LONGEST_LOOK)
        self._woken = self._woken or self.position < self.head
        self._answer_waiters()
        await self._raise_alerts()

    async def _advance(self, connection: AsyncConnection[Any], model: ReadModel) -> bool:
        """Apply ranges up to the head of the log as last read; True if the checkpoint moved."""
        progress = self.progress[model.name]
        if progress.failed_position is not None and stopwatch() < progress.retry_at:
            return False
        before = progress.position
        while progress.position < self.head and not self._closing:
            taken = None
            try:
                taken = await take_in(connection, model, self._most)
            except psycopg.Error as error:
                if not blames_the_event(error):
                    raise
                _log.warning("a range of %s failed: %s", model.name, type(error).__name__)
                if not await self._isolated(connection, model):
                    break
                continue
            if taken is None:
                break
            self._saw(model.name, taken.position, None)
        return progress.position > before

    async def _isolated(self, connection: AsyncConnection[Any], model: ReadModel) -> bool:
        """Find the event that fails; True where the failure did not occur again."""
        try:
            await isolate(connection, model, self._most)
        except UnappliableEvent as failure:
            _log.error("%s", failure)
            self._saw(model.name, failure.position - 1, failure.position)
            self.progress[model.name].retry_at = stopwatch() + self.rhythm.retry
            return False
        return True

    def _saw(self, name: str, position: int, failed_position: int | None) -> None:
        progress = self.progress[name]
        progress.position = max(progress.position, position)
        progress.failed_position = failed_position
        if progress.position >= self.head:
            progress.behind_since = None
            progress.told.clear()
        elif progress.behind_since is None:
            progress.behind_since = stopwatch()

    def _answer_waiters(self) -> None:
        """Wake the readers whose position is reached, or blocked by failed read models only."""
        waiting = []
        for waiter in self._waiters:
            if waiter.hopeful:
                waiting.append(waiter)
            else:
                waiter.answer()
        self._waiters = waiting

    async def _raise_alerts(self) -> None:
        for name, progress in self.progress.items():
            lag = self._lag_of(progress)
            if progress.failed_position is not None:
                reason = f"it cannot take in the event at position {progress.failed_position}"
                await self._tell(Trouble(name, progress.failed_position, lag, reason))
            elif lag >= self.rhythm.alert_after:
                await self._tell(Trouble(name, progress.position, lag, f"it is {lag:.0f} s behind"))

    async def _tell(self, trouble: Trouble) -> None:
        """Raise the alert, once for each period in which a read model is behind."""
        told = self.progress[trouble.name].told
        kind = "failed" if self.progress[trouble.name].failed_position is not None else "behind"
        if self._alert is None or kind in told:
            return
        try:
            await self._alert(trouble)
        except Exception:
            _log.exception("the alert about read model %s could not be raised", trouble.name)
        else:
            told.add(kind)

    @staticmethod
    def _lag_of(progress: Progress) -> float:
        return 0.0 if progress.behind_since is None else stopwatch() - progress.behind_since
