"""The pager: a supervised loop that takes alerts from the outbox to every target (design D11)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psycopg
from psycopg import AsyncConnection

from api.paging.message import Message, message_of
from api.paging.targets import PagingError, Target, targets_of
from ledger.application.clock import stopwatch
from ledger.domain.policy import Policy
from ledger.store.alerts import outbox
from ledger.store.alerts.outbox import Backoff, DrillState, Page

__all__ = ["Cadence", "Counters", "DrillResult", "Pager", "PagingError"]

_log = logging.getLogger("api.paging")
_OPTIONS = (
    "-c lock_timeout=5000 -c statement_timeout=10000 -c idle_in_transaction_session_timeout=15000"
    " -c synchronous_commit=on -c timezone=UTC -c jit=off"
)


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often and how long, in seconds of real time.

    `poll`: between looks at the outbox; `timeout`: for one target to take one message; `claim`:
    until another pager may try what this one has not settled, so more than `timeout`; `drill`: how
    long a drill waits for a pager that works on it already; `farewell`: how long `stop` waits for
    messages on their way; `at_once`: how many pages leave at the same time, a number.
    """

    poll: float = 1.0
    timeout: float = 20.0
    claim: float = 60.0
    drill: float = 90.0
    farewell: float = 5.0
    at_once: int = 4
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(slots=True)
class Counters:
    """For metrics: messages that a target took, tries that failed, and what has not arrived yet."""

    sent: int = 0
    failed: int = 0
    pending: int = 0


class DrillResult(NamedTuple):
    """Whether one target had the drill; `detail` says why not."""

    target: str
    ok: bool
    detail: str


class Pager:
    """Delivers pages; several, in one process or many, share the work. Raises PagingError.

    Without URLs it only waits to be stopped: alerts stay listed as undelivered.
    """

    def __init__(
        self, conninfo: str, urls: Sequence[str], policy: Policy, cadence: Cadence | None = None
    ) -> None:
        self.counters = Counters()
        self.targets = targets_of(urls)
        self._conninfo = conninfo
        self._policy = policy
        self._cadence = cadence or Cadence()
        self._connection: AsyncConnection[Any] | None = None
        self._using = asyncio.Lock()
        self._woken = asyncio.Event()
        self._stopping = asyncio.Event()
        self._running = asyncio.Lock()
        self._deliveries: set[asyncio.Task[None]] = set()
        self._trouble = ""

    def wake(self) -> None:
        """Look at the outbox now: an alert was just written. Call it in the event loop's thread."""
        self._woken.set()

    async def run(self) -> None:
        """Deliver until stopped; whatever goes wrong is logged, and tried again."""
        async with self._running:
            try:
                while self.targets and not self._stopping.is_set():
                    self._woken.clear()
                    try:
                        await self._work()
                        self._trouble = ""
                    except Exception as error:
                        await self._failed(error)
                    await self._rest()
                await self._stopping.wait()
            finally:
                await self._finish()

    async def stop(self) -> None:
        """End `run`, with a moment for the messages on their way.

        What does not arrive in it is tried again when its claim has run out, by whoever runs then.
        """
        self._stopping.set()
        self.wake()
        async with self._running:
            await self._disconnect()

    async def deliver_drill(self, customer_id: str) -> list[DrillResult]:
        """Take this customer's drill to every target now, and say which ones had it.

        Empty without targets. Raises PagingError where the outbox holds no drill for the customer,
        psycopg.OperationalError where the database is away. Works without `run`; `stop` then closes
        the connection.
        """
        if not self.targets:
            return []
        details: dict[str, str] = {}
        deadline = stopwatch() + self._cadence.drill
        async with self._database() as connection:
            await outbox.take_pages(connection, self._policy)
        while True:
            async with self._database() as connection:
                page = await outbox.claim_drill(connection, customer_id, self._cadence.claim)
            if page is not None:
                details |= await self._deliver(page)
            async with self._database() as connection:
                state = await outbox.drill_state(connection, customer_id)
            if state.drills == 0:
                raise PagingError(f"there is no drill alert for customer {customer_id}")
            if state.done == state.drills or details or stopwatch() > deadline:
                return self._drill_results(state, details)
            await asyncio.sleep(self._cadence.poll / 10)

    def _drill_results(self, state: DrillState, details: dict[str, str]) -> list[DrillResult]:
        late = state.last_error or "another pager has not finished it in time"
        return [
            DrillResult(target.name, True, "")
            if target.fingerprint in state.delivered
            else DrillResult(target.name, False, details.get(target.name, late))
            for target in self.targets
        ]

    async def _work(self) -> None:
        async with self._database() as connection:
            waiting = await outbox.look(connection)
            self.counters.pending = waiting.pending
            if waiting.take:
                await outbox.take_pages(connection, self._policy)
        while len(self._deliveries) < self._cadence.at_once:
            async with self._database() as connection:
                page = await outbox.claim_page(connection, self._cadence.claim)
            if page is None:
                return
            delivery = asyncio.create_task(self._supervised(page))
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._delivery_ended)

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(self._cadence.poll):
                await self._woken.wait()
        except TimeoutError:
            return

    def _delivery_ended(self, delivery: asyncio.Task[None]) -> None:
        self._deliveries.discard(delivery)
        self.wake()

    async def _supervised(self, page: Page) -> None:
        try:
            await self._deliver(page)
        except Exception as error:
            # The claim runs out, and the page is tried again.
            await self._failed(error)

    async def _deliver(self, page: Page) -> dict[str, str]:
        """Take a claimed page to those who have not had it; the reasons of those who did not."""
        missing = [t for t in self.targets if t.fingerprint not in page.delivered]
        if not page.alerts:
            # An escalation of which everything was acknowledged meanwhile: nobody is disturbed.
            missing = []
        message = message_of(page) if missing else None
        failures: dict[str, str] = {}
        if message is not None:
            sent = await asyncio.gather(*(self._send(page, message, t) for t in missing))
            failures = {t.name: why for t, why in zip(missing, sent, strict=True) if why}
        error = "; ".join(f"{name}: {why}" for name, why in failures.items()) or None
        async with self._database() as connection:
            await outbox.settle(connection, page, error, self._cadence.backoff)
        return failures

    async def _send(self, page: Page, message: Message, target: Target) -> str:
        """Why the target did not take the message; empty where it did."""
        sent = await target.send(message, self._cadence.timeout)
        if not sent.ok:
            self.counters.failed += 1
            _log.warning(
                "page %d did not reach %s (try %d): %s",
                page.page_id,
                target.name,
                page.attempts,
                sent.detail,
            )
            return sent.detail
        self.counters.sent += 1
        async with self._database() as connection:
            await outbox.mark_delivered(connection, page, target.fingerprint)
        _log.info("page %d (%s) reached %s", page.page_id, page.reason, target.name)
        return ""

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[AsyncConnection[Any]]:
        """The pager's connection, for one user at a time; a broken one is made anew."""
        async with self._using:
            if self._connection is None or self._connection.closed:
                self._connection = await AsyncConnection.connect(
                    self._conninfo,
                    autocommit=True,
                    connect_timeout=5,
                    application_name="send-ledger pager",
                    options=_OPTIONS,
                )
            yield self._connection

    async def _failed(self, error: Exception) -> None:
        # An error's text may hold what the logs must not. The same trouble is logged once.
        trouble = type(error).__name__
        if trouble != self._trouble:
            _log.error("paging failed and goes on: %s", trouble)
        self._trouble = trouble
        if isinstance(error, psycopg.OperationalError):
            await self._disconnect()

    async def _disconnect(self) -> None:
        async with self._using:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None

    async def _finish(self) -> None:
        if self._deliveries:
            await asyncio.wait(self._deliveries, timeout=self._cadence.farewell)
        late = list(self._deliveries)
        for delivery in late:
            delivery.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        await self._disconnect()
