"""Fetches changed objects from provider APIs, a few at a time, and applies them as facts (D10)."""

import asyncio
import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from api.contract.problems import ProblemError
from api.webhooks.intake import Intake, Post, read_post
from api.webhooks.refresh.apis import APIS, ApiAccess, address_of
from api.webhooks.refresh.client import FetchFailed, fetch_object
from ledger.application.clock import stopwatch
from ledger.application.effects import Alert
from ledger.application.ports import StoreUnavailable
from ledger.domain.instants import told
from ledger.domain.policy import Policy
from ledger.store.alerts.alerting import raise_alert
from ledger.store.connections import Connections
from ledger.store.webhooks.refresh import Claimed, claim, failed, fetched, overdue, waiting

_AT_ONCE = 4
"""How many fetches run concurrently; they stay far below Recurly's rate limit per minute."""
_POLL_SECONDS = 5.0
_LOOK_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 6 * 3600.0


class Refresher:
    """The background task of one process; claims distribute the work among processes."""

    def __init__(
        self,
        intake: Intake,
        connections: Connections,
        access: Mapping[str, ApiAccess],
        policy: Policy,
    ) -> None:
        self._intake = intake
        self._connections = connections
        self._access = access
        self._policy = policy
        self._wake = asyncio.Event()
        self._looked_at: float | None = None
        intake.on_hint = self._wake.set

    async def run(self) -> None:
        """Fetch due objects, for ever."""
        threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="refresh")
        try:
            while True:
                self._wake.clear()
                try:
                    busy = await self._round(threads)
                    await self._look()
                except StoreUnavailable:
                    busy = False
                if not busy:
                    await self._pause()
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _round(self, threads: ThreadPoolExecutor) -> bool:
        names = [name for name in self._access if self._intake.endpoint(name) is not None]
        if not names:
            return False
        async with self._connections.use() as connection:
            claimed = await claim(connection, names, _AT_ONCE)
        await asyncio.gather(*[self._fetch(threads, work) for work in claimed])
        return bool(claimed)

    async def _fetch(self, threads: ThreadPoolExecutor, work: Claimed) -> None:
        """Fetch one object and apply it; after any error it is retried later."""
        try:
            body = await self._ask(threads, work)
            await self._take_in(work, body)
        except FetchFailed as error:
            self._count(work, error.reason)
            pause = timedelta(seconds=max(_pause(work.attempts), error.wait or 0.0))
            async with self._connections.use() as connection:
                await failed(connection, work, error.reason, pause)
        else:
            self._count(work, "fetched")
            async with self._connections.use() as connection:
                await fetched(connection, work)

    async def _ask(self, threads: ThreadPoolExecutor, work: Claimed) -> bytes:
        api, access = APIS[work.provider], self._access[work.provider]
        address = address_of(api, access, work.object_kind, work.object_id)
        if address is None:
            raise FetchFailed("unknown_kind")
        loop = asyncio.get_running_loop()
        headers = api.headers(access.key)
        return await loop.run_in_executor(threads, fetch_object, address, headers)

    async def _take_in(self, work: Claimed, body: bytes) -> None:
        endpoint = self._intake.endpoint(work.provider)
        assert endpoint is not None
        post = Post(work.provider, {}, body, work.object_kind)
        try:
            await self._intake.apply(post, read_post(endpoint, post))
        except (ProblemError, StoreUnavailable):
            raise FetchFailed("ledger_unavailable") from None

    def _count(self, work: Claimed, result: str) -> None:
        self._intake.counts.fetches[(work.provider, result)] += 1

    async def _look(self) -> None:
        """Count the queued objects, and raise an alert about the oldest overdue one (as in D6)."""
        if self._looked_at is not None and stopwatch() - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = stopwatch()
        async with self._connections.use() as connection:
            self._intake.counts.waiting = await waiting(connection)
            for row in await overdue(connection, self._policy.unknown_alert_minutes):
                summary = (
                    f"{row.provider} told of {row.count} objects that only its API knows, the "
                    f"first at {told(row.first_hinted_at)}, and they were not fetched"
                )
                key = f"refresh_waiting:{row.provider}:{row.refresh_id}"
                await raise_alert(connection, Alert("refresh_waiting", key, summary))

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), _POLL_SECONDS)
        except TimeoutError:
            return


def _pause(attempts: int) -> float:
    """Seconds before the next retry: doubled each time, with random jitter of up to half."""
    longest = min(_FIRST_PAUSE * 2.0 ** min(attempts - 1, 20), _LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1.0)
