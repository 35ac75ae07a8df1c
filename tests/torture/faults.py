"""What goes wrong in a torture run: kills, stops, cut connections, COMMITs, the clock, the disk."""

import asyncio
import contextlib
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import psycopg

from ledger.store.embedded.postmaster import find_postmaster, serves
from tests.integration.store.commit_proxy import At, CommitProxy
from tests.support.crashing_service import CrashingService
from tests.torture.second_service import SecondService
from tests.torture.shim import Shim

_BACKENDS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name LIKE 'send-ledger%' AND random() < 0.5
"""
_LONGEST_STOP_SECONDS = 4.0
_LATE = ((0.3, 1), (1.5, 1), (6.5, 0))
"""Seconds, and how many connections are refused meanwhile, so that nobody can look again.

The last is longer than a writer waits for the lock that a COMMIT on its way still holds.
"""
_JUMPS = (timedelta(days=30), timedelta(hours=1), timedelta(hours=-1))
_MOMENTS = ("write", "commit")
_COMMIT_SECONDS = 10.0
"""So long is waited for a COMMIT that a fault is to meet."""
T = TypeVar("T")


KINDS = (
    "service killed",
    "second service killed",
    "PostgreSQL killed",
    "service stopped for a while",
    "second service stopped for a while",
    "PostgreSQL stopped for a while",
    "connections cut",
    "COMMIT lost",
    "answer to COMMIT lost",
    "COMMIT late",
    "answer to COMMIT late",
    "clock wrong for a while",
    "disk full for a while",
)


class Faults:
    """Draws one fault after the other, with a pause in between, until the run is over.

    `done` counts those that met something: one that waits for a COMMIT may wait in vain.
    Each kind comes once before any comes again; each has its own ways, which take turns likewise.
    `kinds` leaves all others out.
    """

    def __init__(
        self,
        seed: int,
        first: CrashingService,
        second: SecondService,
        proxy: CommitProxy,
        shim: Shim,
        kinds: Collection[str] = KINDS,
    ) -> None:
        self.done: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._first = first
        self._second = second
        self._proxy = proxy
        self._shim = shim
        self._late = _in_turn(self._random, _LATE)
        self._jumps = _in_turn(self._random, _JUMPS)
        self._moments = _in_turn(self._random, _MOMENTS)
        every: tuple[Callable[[], Awaitable[bool | None]], ...] = (
            self._kill_service,
            self._kill_second,
            self._kill_postgres,
            self._stop_service,
            self._stop_second,
            self._stop_postgres,
            self._cut_connections,
            self._lose_commit,
            self._lose_answer,
            self._commit_late,
            self._answer_late,
            self._clock_wrong,
            self._disk_full,
        )
        named = zip(KINDS, every, strict=True)
        self._kinds = {name: do for name, do in named if name in kinds}

    async def run(self, over: asyncio.Event) -> None:
        """One fault after the other; the last one is mended before this returns."""
        for name in _in_turn(self._random, sorted(self._kinds)):
            if over.is_set():
                return
            if await self._kinds[name]() is not False:
                self.done[name] += 1
            await asyncio.sleep(self._random.uniform(0.2, 1.5))

    async def _kill_service(self) -> None:
        self._first.kill_service()
        await asyncio.to_thread(self._first.start)

    async def _kill_second(self) -> None:
        self._second.kill()
        await asyncio.to_thread(self._second.start)

    async def _kill_postgres(self) -> None:
        self._first.kill_postgres()

    async def _stop_service(self) -> None:
        self._first.signal(signal.SIGSTOP)
        try:
            await self._a_while()
        finally:
            self._first.signal(signal.SIGCONT)

    async def _stop_second(self) -> None:
        os.kill(self._second.pid, signal.SIGSTOP)
        try:
            await self._a_while()
        finally:
            os.kill(self._second.pid, signal.SIGCONT)

    async def _stop_postgres(self) -> None:
        with _stopped_postgres(self._first.folder / "pgdata"):
            await self._a_while()

    async def _cut_connections(self) -> None:
        with contextlib.suppress(psycopg.OperationalError):
            await asyncio.to_thread(self._terminate_backends)

    def _terminate_backends(self) -> None:
        with psycopg.connect(self._first.conninfo(), autocommit=True) as db:
            db.execute(_BACKENDS)

    async def _lose_commit(self) -> bool:
        return await self._lost(At.NEVER_SENT)

    async def _lose_answer(self) -> bool:
        return await self._lost(At.ANSWER_LOST)

    async def _lost(self, at: At) -> bool:
        self._proxy.refuse_after = self._random.choice([0, 1, 3])
        return await self._at_commit(at)

    async def _answer_late(self) -> bool:
        return await self._delivered_late(At.ANSWER_LATE)

    async def _commit_late(self) -> bool:
        return await self._delivered_late(At.ON_ITS_WAY)

    async def _delivered_late(self, at: At) -> bool:
        seconds, self._proxy.refuse_after = next(self._late)
        self._proxy.deliver.clear()
        try:
            met = await self._at_commit(at)
            if met:
                await asyncio.sleep(seconds)
        finally:
            self._proxy.deliver.set()
        return met

    async def _at_commit(self, at: At) -> bool:
        """Have it happen at the second service's next COMMIT; False where none comes."""
        self._proxy.plan.append(at)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_COMMIT_SECONDS):
                while self._proxy.plan:
                    await asyncio.sleep(0.01)
        met = not self._proxy.plan
        self._proxy.plan.clear()
        return met

    async def _clock_wrong(self) -> None:
        jump = next(self._jumps)
        await asyncio.to_thread(self._shim.clock_wrong_by, jump)
        try:
            await self._a_while()
        finally:
            await asyncio.to_thread(self._shim.clock_wrong_by, timedelta(0))

    async def _disk_full(self) -> None:
        when = next(self._moments)
        await asyncio.to_thread(self._shim.disk_full_at, when)
        try:
            await self._a_while()
        finally:
            await asyncio.to_thread(self._shim.disk_full_at, "never")

    async def _a_while(self) -> None:
        await asyncio.sleep(self._random.uniform(0.3, _LONGEST_STOP_SECONDS))


def _in_turn(drawing: random.Random, items: Sequence[T]) -> Iterator[T]:
    """All of them in some order, then in another, for ever; nothing where there are none."""
    while items:
        yield from drawing.sample(items, len(items))


@contextmanager
def _stopped_postgres(pgdata: Path) -> Iterator[None]:
    """SIGSTOP for the server and all its processes; none of them runs until the block ends."""
    stopped: list[int] = []
    postmaster = find_postmaster(pgdata)
    try:
        if postmaster is not None:
            stopped.append(postmaster.pid)
            _send(signal.SIGSTOP, postmaster.pid)
            for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
                if pid != postmaster.pid and serves(pid, pgdata):
                    stopped.append(pid)
                    _send(signal.SIGSTOP, pid)
        yield
    finally:
        for pid in stopped:
            _send(signal.SIGCONT, pid)


def _send(how: signal.Signals, pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)
