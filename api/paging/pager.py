"""The pager: a supervised loop that delivers alerts from the outbox to every target (D11)."""

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

_log = logging.getLogger("ledger.paging")
_OPTIONS = (
    "-c lock_timeout=5000 -c statement_timeout=10000 -c idle_in_transaction_session_timeout=15000"
    " -c synchronous_commit=on -c timezone=UTC -c jit=off"
)


@dataclass(frozen=True, slots=True)
class Cadence:
    """The pager's intervals and timeouts, in seconds of real time.

    `poll`: interval between polls of the outbox; `timeout`: for one delivery to one target;
    `claim`: how long a claim of a page lasts, longer than `timeout`; `drill`: how long a drill
    waits for a pager that has claimed it already; `farewell`: how long `stop` waits for deliveries
    in progress. `at_once` is a number: how many pages are delivered concurrently.
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
    """For metrics: successful deliveries, failed attempts, and alerts and pages still pending."""

    sent: int = 0
    failed: int = 0
    pending: int = 0


class DrillResult(NamedTuple):
    """Whether one target received the drill; `detail` says why not."""

    target: str
    ok: bool
    detail: str


class Pager:
    """Delivers pages; several pagers, in one or more processes, share the work. Raises PagingError.

    Without URLs it does nothing until stopped: alerts stay listed as undelivered.
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
        """Poll the outbox now, after an alert was written. Call it in the event loop's thread."""
        self._woken.set()

    async def run(self) -> None:
        """Deliver until stopped; every error is logged, and the delivery is retried."""
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
        """End `run`, after waiting up to `farewell` seconds for deliveries in progress.

        A page that is not delivered by then is retried by any pager after its claim has expired.
        """
        self._stopping.set()
        self.wake()
        async with self._running:
            await self._disconnect()

    async def deliver_drill(self, customer_id: str) -> list[DrillResult]:
        """Deliver this customer's drill to every target now; returns a result for each target.

        Empty without targets. Raises PagingError where the outbox has no drill for the customer,
        psycopg.OperationalError where the database does not answer. Works without `run`; `stop`
        then closes the connection.
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
            # The claim expires, and the page is retried.
            await self._failed(error)

    async def _deliver(self, page: Page) -> dict[str, str]:
        """Deliver a claimed page to the remaining targets; returns the reason of each failure."""
        missing = [t for t in self.targets if t.fingerprint not in page.delivered]
        if not page.alerts:
            # All alerts of this escalation were acknowledged meanwhile: it is not sent.
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
        """Send the message to a target; returns why it failed, empty on success."""
        sent = await target.send(message, self._cadence.timeout)
        if not sent.ok:
            self.counters.failed += 1
            _log.warning(
                "page %d did not reach %s (try %d): %s",
                page.page_id,
                target.name,
                page.attempts,
                sent.detail,
                extra={"event": "page_failed"},
            )
            return sent.detail
        self.counters.sent += 1
        async with self._database() as connection:
            await outbox.mark_delivered(connection, page, target.fingerprint)
        text = "page %d (%s) reached %s"
        _log.info(text, page.page_id, page.reason, target.name, extra={"event": "page"})
        return ""

    @asynccontextmanager
    async def _database(self) -> AsyncIterator[AsyncConnection[Any]]:
        """The pager's connection, for one user at a time; a broken one is replaced."""
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
        # Only the class: an error's text may contain addresses. The same error is logged once.
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
