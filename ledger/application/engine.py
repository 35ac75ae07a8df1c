"""Group commit: collects waiting commands, decides them under one lock, commits once (D4)."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger.application import answers, batch
from ledger.application.answers import Answer, answered
from ledger.application.cache import AggregateCache
from ledger.application.caller import SYSTEM
from ledger.application.clock import stopwatch
from ledger.application.clock_watch import ClockWatch
from ledger.application.commands import NOBODY, Command, EnterRecovery, Lapse, is_of_claim
from ledger.application.counters import Counters
from ledger.application.fair_queue import FairQueue, Full
from ledger.application.heard_feeds import HeardFeeds
from ledger.application.limits import Limits
from ledger.application.ports import (
    CommitUncertain,
    Head,
    NotBegun,
    StoreRefused,
    StoreUnavailable,
    WriterSession,
)
from ledger.application.ranks import rank_of
from ledger.application.repeated_denials import RepeatedDenials
from ledger.application.world import Identity
from ledger.domain.policy import Policy

_log = logging.getLogger("ledger.engine")


_SHARE = 3
"""A part holds one in so many of the commands that are left, where that is not too many."""
_LARGEST_PART = 64
"""Some 150 KB, which the socket takes at once: nobody waits until the database has read it."""
_TURN = 64
"""After so many commands requests are read, which else are read while the last part is written."""


@dataclass(slots=True, eq=False)
class _Ticket:
    command: Command
    future: asyncio.Future[Answer]


class Engine:
    """One writer of one process. Several processes take turns by the writer lock.

    `position` is the log's after the last commit. What the log holds since `only_claims_since` is
    of this engine's claims alone.
    """

    def __init__(
        self,
        session: WriterSession,
        policy: Policy,
        identity: Identity,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.counters = Counters()
        self.heard = HeardFeeds()
        self.position = 0
        self.only_claims_since = 0
        self.keys_version = -1
        self._active_keys: frozenset[str] = frozenset()
        self._session = session
        self._policy = policy
        self._policy_version = policy.version()
        self._identity = identity
        self._clock = ClockWatch(policy.clock_jump)
        self._cache = AggregateCache(self.limits.aggregates)
        self._queue: FairQueue[_Ticket] = FairQueue(self.limits.places)
        self._repeats = RepeatedDenials()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._resting = False
        self._begun_early = False
        self._listeners: list[Any] = []

    @property
    def waiting(self) -> int:
        """How many commands wait to be taken."""
        return len(self._queue)

    @property
    def clock_suspect(self) -> str | None:
        """Why the last batch did not trust the database's clock; None where it did."""
        return self._clock.suspicion.cause if self._clock.suspicion is not None else None

    @property
    def owes_rows(self) -> bool:
        """Are there denials that were counted, and whose count is not written yet?"""
        return self._repeats.owes_rows

    def on_commit(self, listener: Any) -> None:
        """Call `listener()` after each commit that moved the log on."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Begin taking commands."""
        self._task = asyncio.create_task(self._run(), name="ledger-engine")

    async def stop(self) -> None:
        """Answer everything that was taken or waits, write what was counted, then end."""
        if self.owes_rows and self._task is not None:
            self.enqueue(Lapse(NOBODY))
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task

    def expect(self) -> None:
        """A command is on its way: where nothing else is done, begin while it is read and checked.

        The head, the time and the keys are read after this call, so after its command arrived.
        """
        if self._resting and not self._closing and self._session.anticipate():
            self._resting = False
            self._begun_early = True
            self._wake.set()

    async def submit(self, command: Command) -> Answer:
        """The answer to one command, committed; 503 where the queue is full or the store down."""
        return await self.enqueue(command)

    async def submit_all(self, commands: Sequence[Command]) -> list[Answer]:
        """The answers to commands of one caller, decided in this order."""
        return await answered([self.enqueue(command) for command in commands])

    def enqueue(self, command: Command) -> "asyncio.Future[Answer]":
        """Put a command in its caller's queue; the answer comes by the future.

        Where the queue is full the answer is 503: to this command, or to one of the caller that has
        the most waiting. It is 429 where the caller has as many waiting as one may.
        """
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self._closing:
            self._refuse(future)
            return future
        try:
            displaced = self._queue.put(
                _Ticket(command, future), command.caller.key_id, rank_of(command)
            )
        except Full as full:
            self._refuse(future, self.limits.a_caller if full.of_caller else None)
            return future
        if displaced is not None:
            self._refuse(displaced.future)
        self.expect()
        self._wake.set()
        return future

    def _refuse(self, future: "asyncio.Future[Answer]", of_one: int | None = None) -> None:
        """Answer a command that has no place; `of_one`: how many one caller may have waiting."""
        if future.done():
            return
        self.counters.refused_full += 1
        full = answers.unavailable("the ledger has too much to do; ask again")
        future.set_result(full if of_one is None else answers.too_many_commands(of_one))

    async def _run(self) -> None:
        while True:
            if not self._queue:
                if self._begun_early:
                    await self._end_early_begin()
                    continue
                if self._closing:
                    return
                self._wake.clear()
                self._resting = True
                await self._wake.wait()
                self._resting = False
                continue
            tickets = [t for t in self._queue.take(self.limits.batch) if not t.future.cancelled()]
            if not tickets:
                continue
            try:
                await self._process(tickets)
            except Exception:
                _log.exception("a batch failed in a way that was not foreseen")
                self._cache.clear(0)
                await self._session.rollback()
                self._settle_all(tickets, answers.plain_problem("internal_error", "see the log"))
            if len(self._queue) < len(tickets) // 2:
                await self._let_others_ask()

    @staticmethod
    async def _let_others_ask() -> None:
        """The many who were just answered ask again at once: else one of them had a batch alone.

        In turn the answers are sent, what came in is read, and commands are made of it.
        """
        for _ in range(3):
            await asyncio.sleep(0)

    async def _end_early_begin(self) -> None:
        """What was expected did not come: it was refused before it reached the engine."""
        self._begun_early = False
        try:
            head = await self._session.begin()
            # Only this head may tell that what is kept here holds no more.
            await self._catch_up(head)
        except StoreUnavailable as error:
            _log.debug("what was begun early came to nothing: %r", error)
        except Exception:
            _log.exception("a transaction in vain failed in a way that was not foreseen")
            self._cache.clear(0)
        await self._session.rollback()

    async def _process(self, tickets: list[_Ticket]) -> None:
        started = stopwatch()
        try:
            results = await self._attempt(tickets)
        except Exception as error:
            results = await self._rerun(tickets, error)
        self.counters.batches += 1
        self.counters.commands += len(tickets)
        self.counters.seconds_in_store += stopwatch() - started
        for ticket, answer in zip(tickets, results, strict=True):
            if not ticket.future.done():
                ticket.future.set_result(answer)

    async def _rerun(self, tickets: list[_Ticket], error: Exception) -> list[Answer]:
        """After a failure decide one by one, so that only the culprit fails (design D4).

        Not where trying again would only wait as long again, nor where the batch may be in the
        log: to decide it again would call its own grants duplicates.
        """
        if isinstance(error, NotBegun | CommitUncertain):
            self.counters.unavailable += len(tickets)
            return [answers.store_failed(error)] * len(tickets)
        if not isinstance(error, StoreUnavailable):
            _log.warning("a batch of %d is decided one by one: %r", len(tickets), error)
        self.counters.reruns += 1
        results: list[Answer] = []
        for ticket in tickets:
            try:
                results.extend(await self._attempt([ticket]))
            except StoreUnavailable as failure:
                self.counters.unavailable += 1
                results.append(answers.store_failed(failure))
                if len(tickets) > 1:
                    rest = len(tickets) - len(results)
                    results.extend([answers.unavailable("the store does not answer")] * rest)
                    return results
            except Exception as failure:
                _log.exception("a %s could not be decided", type(ticket.command).__name__)
                detail = f"the request could not be decided ({type(failure).__name__})"
                results.append(answers.plain_problem("internal_error", detail))
        return results

    async def _attempt(self, tickets: list[_Ticket]) -> list[Answer]:
        """Decide and commit these commands in one transaction, or raise and change nothing."""
        self._begun_early = False
        head = await self._session.begin()
        work: batch.Work | None = None
        try:
            await self._catch_up(head)
            await self._know_keys(head)
            commands = [ticket.command for ticket in tickets]
            head = await self._clock.checked(head, commands, self._session)
            work = batch.open_work(
                self._session,
                self._cache,
                head,
                self._policy,
                self._policy_version,
                self._identity,
            )
            work.tally, owed = self._repeats.begin(head.now, closing=self._closing)
            work.batch.decisions.extend(owed)
            work.owed = len(owed)
            await batch.prepare(work, commands)
            work.batch.alerts.extend((alert, head.now) for alert in self._clock.alerts(head))
            if head.loss is not None:
                await batch.run(work, EnterRecovery(head.loss.cause, head.loss.import_from))
            results = await self._decide(work, commands)
            work.batch.snapshots.extend(work.to_snapshot.values())
            if work.batch:
                await self._session.write(work.batch)
            else:
                await self._session.rollback()
        except CommitUncertain as error:
            assert work is not None
            await self._look_again(work, error)
        except BaseException:
            self._forget(work)
            await self._session.rollback()
            raise
        self._committed(work, head, commands)
        self.heard.note(head.now, commands, results)
        return results

    async def _decide(self, work: batch.Work, commands: list[Command]) -> list[Answer]:
        """Decide in order; what was decided is being written while the rest is decided."""
        results: list[Answer] = []
        until = self._end_of_part(0, len(commands))
        for command in commands:
            if len(results) == until:
                await self._session.send_part(work.batch)
                until = self._end_of_part(until, len(commands))
            if len(results) % _TURN == _TURN - 1:
                await asyncio.sleep(0)
            if command.caller.key_id not in self._active_keys:
                results.append(answers.plain_problem("unauthorized", "the key was revoked"))
            else:
                refusal = self._clock.refusal(command)
                results.append(refusal or await batch.run(work, command))
        return results

    def _end_of_part(self, start: int, count: int) -> int:
        """A share of what is left: while the last part is written nothing can be decided."""
        return start + max(self.limits.part, min(_LARGEST_PART, (count - start) // _SHARE))

    async def _know_keys(self, head: Head) -> None:
        """After a key was made or revoked anywhere, learn which ones may still ask."""
        if head.keys_version != self.keys_version or not self._active_keys:
            self._active_keys = await self._session.active_keys() | {SYSTEM.key_id}
            self.keys_version = head.keys_version

    async def _catch_up(self, head: Head) -> None:
        """Bring the cache to the head of the log as seen under the lock."""
        cache = self._cache
        if head.rewritten:
            cache.clear(head.position)
            self._active_keys = frozenset()
            return
        if head.position == cache.position:
            return
        if head.position < cache.position or not cache.aggregates:
            cache.clear(head.position)
            return
        if head.position - cache.position > self.limits.catch_up:
            cache.clear(head.position)
            return
        events = await self._session.events_since(cache.position, self.limits.catch_up)
        cache.catch_up(events, head.position)

    async def _look_again(self, work: batch.Work, lost: CommitUncertain) -> None:
        """A lost acknowledgement: ask inside the lock whether the batch is in the log (D4).

        Raises StoreUnavailable where it is not, and CommitUncertain where nobody can tell.
        """
        _log.warning("the acknowledgement of a commit was lost; looking again under the lock")
        committed = False
        try:
            committed = await self._session.committed(work.batch)
        except (StoreUnavailable, StoreRefused):
            raise lost from None
        finally:
            if not committed:
                self._forget(work)
            await self._session.rollback()
        if not committed:
            raise StoreUnavailable(str(lost)) from lost

    def _forget(self, work: batch.Work | None) -> None:
        if work is None:
            self._cache.clear(0)
            return
        self._cache.evict(work.touched)
        self._cache.addresses.clear()

    def _committed(self, work: batch.Work, head: Head, commands: list[Command]) -> None:
        others = head.position != self.position or head.rewritten or head.loss is not None
        if others or (work.batch.events and not all(map(is_of_claim, commands))):
            self.only_claims_since = work.batch.position
        self._cache.position = self.position = work.batch.position
        self._cache.used(work.touched)
        for row in work.decided:
            self.counters.count(row)
        if work.tally is not None:
            self._repeats.commit(work.tally)
        if work.batch.events:
            for listener in self._listeners:
                self._tell(listener)

    @staticmethod
    def _tell(listener: Any) -> None:
        """What fails in a listener must not look as if the batch had failed: it is committed."""
        try:
            listener()
        except Exception:
            _log.exception("a listener failed after a commit")

    @staticmethod
    def _settle_all(tickets: list[_Ticket], answer: Answer) -> None:
        for ticket in tickets:
            if not ticket.future.done():
                ticket.future.set_result(answer)
