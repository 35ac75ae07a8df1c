"""What goes wrong in a torture run: kills, stops, cut connections and lost answers to a COMMIT."""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable

import psycopg

from tests.integration.store.commit_proxy import At, CommitProxy
from tests.support.crashing_service import CrashingService
from tests.torture.second_service import SecondService

_BACKENDS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name LIKE 'send-ledger%' AND random() < 0.5
"""
_LONGEST_STOP_SECONDS = 4.0


class Faults:
    """Draws one fault after the other, with a pause in between, until the run is over."""

    def __init__(
        self, seed: int, first: CrashingService, second: SecondService, proxy: CommitProxy
    ) -> None:
        self.done: Counter[str] = Counter()
        self._random = random.Random(seed)
        self._first = first
        self._second = second
        self._proxy = proxy
        self._kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "service killed": self._kill_service,
            "second service killed": self._kill_second,
            "PostgreSQL killed": self._kill_postgres,
            "service stopped for a while": self._stop_for_a_while,
            "connections cut": self._cut_connections,
            "answer to COMMIT lost": self._lose_commit,
        }

    async def run(self, over: asyncio.Event) -> None:
        """One fault after the other; the last one is mended before this returns."""
        while not over.is_set():
            name = self._random.choice(sorted(self._kinds))
            await self._kinds[name]()
            self.done[name] += 1
            await asyncio.sleep(self._random.uniform(0.3, 2.0))

    async def _kill_service(self) -> None:
        self._first.kill_service()
        await asyncio.to_thread(self._first.start)

    async def _kill_second(self) -> None:
        self._second.kill()
        await asyncio.to_thread(self._second.start)

    async def _kill_postgres(self) -> None:
        self._first.kill_postgres()

    async def _stop_for_a_while(self) -> None:
        os.kill(self._second.pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(self._random.uniform(0.2, _LONGEST_STOP_SECONDS))
        finally:
            os.kill(self._second.pid, signal.SIGCONT)

    async def _cut_connections(self) -> None:
        try:
            await asyncio.to_thread(self._terminate_backends)
        except psycopg.OperationalError:
            return

    def _terminate_backends(self) -> None:
        with psycopg.connect(self._first.conninfo(), autocommit=True) as db:
            db.execute(_BACKENDS)

    async def _lose_commit(self) -> None:
        self._proxy.plan += [self._random.choice([At.ANSWER_LOST, At.NEVER_SENT])]
        self._proxy.refuse_after = self._random.choice([0, 1, 3])
