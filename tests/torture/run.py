"""One torture run: two services on one database, clients, faults, and the judgement at the end."""

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

import httpx

from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.looking_back.audit import verify
from tests.integration.store.commit_proxy import commit_proxy
from tests.support.crashing_service import CrashingService
from tests.support.service import SERVE, service_environ
from tests.torture.faults import KINDS, Faults
from tests.torture.history import Heard, read_log
from tests.torture.judge import breaches
from tests.torture.second_service import SecondService
from tests.torture.sender import Sender
from tests.torture.shim import Shim
from tests.torture.verdict import Verdict, verdict
from tests.torture.world import World, footing

CLIENTS = 12
_LONGEST_SECONDS = 90.0
"""A run that waits for its faults on a busy machine ends after so long more."""


class Run:
    """A run of so many seconds, and until it has had `faults` faults and `answers` answers.

    `kinds` are the faults to draw from, and each is met at least once; `command` is the second
    service's.
    """

    def __init__(
        self,
        seconds: float,
        seed: int,
        *,
        kinds: Collection[str] = KINDS,
        command: tuple[str, ...] = SERVE,
        faults: int = 0,
        answers: int = 0,
    ) -> None:
        self._seconds = seconds
        self._seed = seed
        self._kinds = kinds
        self._command = command
        self._least = faults, answers
        self._heard: list[Heard] = []
        self._done: Counter[str] = Counter()
        self._stuck: list[str] = []

    def judged(self) -> Verdict:
        """Run it, then judge what the clients heard by the log."""
        os.environ["LEDGER_SECRET"] = service_environ("", Path())["LEDGER_SECRET"]
        with (
            CrashingService() as first,
            tempfile.TemporaryDirectory(prefix="ledger-second-") as folder,
        ):
            asyncio.run(self._under_load(first, Path(folder)))
            first.stop()
            with EmbeddedPostgres(first.folder) as database:
                conninfo = database.start()
                log = read_log(conninfo)
                checked = verify(conninfo)
        found = breaches(self._heard, log, Policy().outreach_per_day) + self._stuck
        if not checked.ok:
            found.append(f"the hash chain does not hold: {checked.problem}")
        return verdict(found, self._heard, log, self._done)

    async def _under_load(self, first: CrashingService, folder: Path) -> None:
        over = asyncio.Event()
        shim = Shim(first.conninfo())
        await asyncio.to_thread(shim.install)
        async with commit_proxy(first.conninfo()) as (proxy, conninfo), httpx.AsyncClient() as http:
            second = SecondService(conninfo, folder, self._command)
            await asyncio.to_thread(second.start)
            key, incident_id = await footing(http, first.url, first.key)
            world = World(self._seed, datetime.now(UTC), incident_id)
            urls = (lambda: first.url, lambda: second.url)
            senders = [
                Sender(world, self._heard, urls[number % 2], key, http) for number in range(CLIENTS)
            ]
            faults = Faults(self._seed, first, second, proxy, shim, self._kinds)
            self._done = faults.done
            tasks = [asyncio.create_task(sender.run(over)) for sender in senders]
            tasks.append(asyncio.create_task(faults.run(over)))
            try:
                await self._long_enough()
                over.set()
                await asyncio.gather(*tasks)
                await self._goes_on(senders[:2])
            finally:
                await asyncio.to_thread(second.stop)

    async def _long_enough(self) -> None:
        """The seconds of the run, and until the least of faults and answers is there."""
        await asyncio.sleep(self._seconds)
        faults, answers = self._least
        clock = asyncio.get_running_loop()
        give_up = clock.time() + _LONGEST_SECONDS
        while clock.time() < give_up:
            met_all = set(self._kinds) <= set(self._done)
            if met_all and self._done.total() >= faults and len(self._heard) >= answers:
                return
            await asyncio.sleep(0.1)

    async def _goes_on(self, senders: list[Sender]) -> None:
        """Once every fault is mended, each service grants again."""
        for name, sender in zip(("first", "second"), senders, strict=True):
            if not await sender.is_granted_one():
                self._stuck.append(f"the {name} service grants nothing after the last fault")
