"""A failover to a streaming standby in which nobody ends the old primary, under load, and judged.

Each primary has a service of its own, and clients that keep asking it. What keeps both from being
heard is a synchronous standby that must confirm (LEDGER_REQUIRE_SYNC), or a shared witness
(LEDGER_WITNESS_URL); without either the judge must find mails that went out twice.
"""

import asyncio
import os
import signal
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import httpx
import psycopg

from ledger.domain.policy import Policy
from ledger.store.keys import SCOPES, insert_first_key
from ledger.store.migrate import migrate
from tests.support.postgres import running_postgres
from tests.support.replication import Node, cluster
from tests.torture.history import Heard, read_log
from tests.torture.judge import breaches
from tests.torture.second_service import SecondService
from tests.torture.sender import Sender
from tests.torture.verdict import Verdict, verdict
from tests.torture.world import World, footing

_CLIENTS = 8
_FIRST_KEY = "slk_the_first_key_in_a_split_brain"
_GRANTS = 20
"""So many must be heard of before, and after, the standby was promoted."""
_SECONDS = 120.0
"""Longer than that nobody waits for them."""
_IN_SYNC = "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'"


class Fence(Enum):
    """What holds when a standby was promoted and the old primary lives."""

    SYNC = "failover under load, synchronous standby required"
    WITNESS = "failover while the old service stands still, shared witness"
    WITNESS_UNDER_LOAD = "failover under load, shared witness"
    NONE = "failover while the old service stands still, no witness"

    @property
    def stands_still(self) -> bool:
        """Does the old service stop before the promotion, and wake up after it?"""
        return self in (Fence.WITNESS, Fence.NONE)

    @property
    def goes_on(self) -> bool:
        """Has the new primary all that was heard, so that it must grant?

        Under load and replicated asynchronously it lacks some, and waits for a human.
        """
        return self is not Fence.WITNESS_UNDER_LOAD


@dataclass(slots=True)
class _Failover:
    fence: Fence
    seconds: float
    seed: int
    nodes: list[Node]
    env: dict[str, str]
    folder: Path
    http: httpx.AsyncClient
    key: str = ""
    heard_old: list[Heard] = field(default_factory=list)
    heard_new: list[Heard] = field(default_factory=list)

    async def run(self) -> None:
        """Load on the old primary, the promotion, load on both."""
        a, b = self.nodes[:2]
        old = SecondService(a.conninfo, self._made("old"), env=self.env)
        new = SecondService(b.conninfo, self._made("new"), env=self.env)
        clients: list[asyncio.Task[None]] = []
        try:
            await asyncio.to_thread(old.start)
            self.key, incident_id = await footing(self.http, old.url, _FIRST_KEY)
            world = World(self.seed, datetime.now(UTC), incident_id)
            clients += self._clients(world, old, self.heard_old)
            await self._until_granted(self.heard_old, self.seconds / 3)
            if self.fence.stands_still:
                os.kill(old.pid, signal.SIGSTOP)
            await asyncio.to_thread(self._promote)
            await asyncio.to_thread(new.start)
            clients += self._clients(world, new, self.heard_new)
            if self.fence.goes_on:
                await self._until_granted(self.heard_new, self.seconds / 3)
            if self.fence.stands_still:
                os.kill(old.pid, signal.SIGCONT)
            await asyncio.sleep(self.seconds / 3)
        finally:
            for client in clients:
                client.cancel()
            await asyncio.gather(*clients, return_exceptions=True)
            for service in (old, new):
                await asyncio.to_thread(service.end)

    def verdict(self) -> Verdict:
        """What was heard of either, judged by the log of the new primary.

        Where that one waits for a human, to be told of what it lacks, by both logs.
        """
        a, b = self.nodes[:2]
        heard = sorted([*self.heard_old, *self.heard_new], key=lambda one: one.at)
        log = read_log(b.conninfo)
        if not self.fence.goes_on:
            log = log.with_those_of(read_log(a.conninfo))
        found = breaches(heard, log, Policy().outreach_per_day)
        for which, said in (("old", self.heard_old), ("new", self.heard_new)):
            if (which == "old" or self.fence.goes_on) and _grants(said) < _GRANTS:
                found.append(f"{self.fence.value}: {_grants(said)} grants of the {which} primary")
        return verdict(found, heard, log, Counter({self.fence.value: 1}))

    def _promote(self) -> None:
        a, b = self.nodes[:2]
        if self.fence.stands_still:
            a.until_followed_by(b)
        b.promote()
        if self.fence is Fence.SYNC:
            b.set("synchronous_standby_names", "c")
            b.until(_IN_SYNC)

    def _clients(
        self, world: World, service: SecondService, heard: list[Heard]
    ) -> list[asyncio.Task[None]]:
        never = asyncio.Event()
        senders = [
            Sender(world, heard, lambda: service.url, self.key, self.http) for _ in range(_CLIENTS)
        ]
        return [asyncio.create_task(sender.run(never)) for sender in senders]

    async def _until_granted(self, heard: list[Heard], seconds: float) -> None:
        await asyncio.sleep(seconds)
        clock = asyncio.get_running_loop()
        give_up = clock.time() + _SECONDS
        while _grants(heard) < _GRANTS and clock.time() < give_up:
            await asyncio.sleep(0.05)

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        return folder


def split_brain(fence: Fence, seconds: float, seed: int) -> Verdict:
    """One failover, judged; the services run under load for so many seconds in all."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-failover-")))
        nodes = stack.enter_context(cluster("debian15", 2 if fence is Fence.SYNC else 1))
        migrate(nodes[0].conninfo)
        with psycopg.connect(nodes[0].conninfo, autocommit=True) as db:
            insert_first_key(db, _FIRST_KEY, SCOPES)
        env = {}
        if fence is Fence.SYNC:
            env["LEDGER_REQUIRE_SYNC"] = "on"
            _in_sync(nodes)
        elif fence is not Fence.NONE:
            env["LEDGER_WITNESS_URL"] = stack.enter_context(running_postgres(fast=True))
        return asyncio.run(_judged(fence, seconds, seed, nodes, env, folder))


async def _judged(
    fence: Fence, seconds: float, seed: int, nodes: list[Node], env: dict[str, str], folder: Path
) -> Verdict:
    async with httpx.AsyncClient() as http:
        failover = _Failover(fence, seconds, seed, nodes, env, folder, http)
        await failover.run()
    return failover.verdict()


def _in_sync(nodes: list[Node]) -> None:
    """`a` waits for `b`; `c` follows `b`, and will go on with it."""
    a, b, c = nodes
    c.follow_instead(b)
    a.set("synchronous_standby_names", b.name)
    a.until(_IN_SYNC)


def _grants(heard: list[Heard]) -> int:
    return sum(one.act == "ask" and one.status == 201 for one in heard)
