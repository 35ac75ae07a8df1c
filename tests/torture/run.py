"""One torture run: two services on one database, clients, faults, and the judgement at the end."""

import asyncio
import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx

from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.looking_back.audit import verify
from tests.integration.store.commit_proxy import commit_proxy
from tests.support.crashing_service import CrashingService
from tests.support.service import SERVE, service_environ
from tests.torture.faults import Faults
from tests.torture.history import Heard, read_log
from tests.torture.judge import breaches
from tests.torture.second_service import SecondService
from tests.torture.sender import Sender
from tests.torture.world import World

CLIENTS = 12


@dataclass(slots=True)
class Verdict:
    """What a run heard and did, and what was wrong with it."""

    breaches: list[str]
    answers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    grants: int = 0
    handed_over: int = 0


def torture(
    seconds: float, seed: int, *, faults: bool = True, second: tuple[str, ...] = SERVE
) -> Verdict:
    """Run for so many seconds and judge; `second` is the command of the second service."""
    os.environ["LEDGER_SECRET"] = service_environ("", Path())["LEDGER_SECRET"]
    with CrashingService() as first, tempfile.TemporaryDirectory(prefix="ledger-second-") as folder:
        heard, done = asyncio.run(_under_load(first, Path(folder), second, seconds, seed, faults))
        first.stop()
        with EmbeddedPostgres(first.folder) as database:
            conninfo = database.start()
            log = read_log(conninfo)
            checked = verify(conninfo)
    found = breaches(heard, log, Policy().outreach_per_day)
    if not checked.ok:
        found.append(f"the hash chain does not hold: {checked.problem}")
    return Verdict(
        found,
        Counter(f"{one.act} {one.status} {one.code or ''}".rstrip() for one in heard),
        done,
        len(log.granted),
        sum(one.act == "handed over" for one in heard),
    )


async def _under_load(
    first: CrashingService,
    folder: Path,
    command: tuple[str, ...],
    seconds: float,
    seed: int,
    with_faults: bool,
) -> tuple[list[Heard], Counter[str]]:
    heard: list[Heard] = []
    over = asyncio.Event()
    async with commit_proxy(first.conninfo()) as (proxy, conninfo), httpx.AsyncClient() as http:
        second = SecondService(conninfo, folder, command)
        await asyncio.to_thread(second.start)
        world = World(seed, datetime.now(UTC))
        urls = (lambda: first.url, lambda: second.url)
        senders = [
            Sender(world, heard, urls[number % 2], first.key, http) for number in range(CLIENTS)
        ]
        faults = Faults(seed, first, second, proxy)
        tasks = [asyncio.create_task(sender.run(over)) for sender in senders]
        if with_faults:
            tasks.append(asyncio.create_task(faults.run(over)))
        try:
            await asyncio.sleep(seconds)
            over.set()
            await asyncio.gather(*tasks)
        finally:
            await asyncio.to_thread(second.stop)
    return heard, faults.done
