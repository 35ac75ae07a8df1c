"""Rows about a customer with 100,000 past sends, against one with none, without HTTP.

The history is real events: `send.observed` facts, decided in bulk on a test clock. The measured
time is that of Engine.submit, from the command to the committed answer, so that the time of HTTP
does not hide a difference.
"""

import asyncio
import time
import uuid
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg

from bench.ratio import Comparison, Pair, Sample
from bench.stand import Stand
from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, ReportOutcome, RequestPermit
from ledger.application.engine import Engine
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.fact import Fact
from ledger.application.facts.send_observed import SendObserved
from ledger.application.kinds.own_requests import notice_of
from ledger.application.world import Identity
from ledger.domain.policy import Policy
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate
from ledger.store.setup import prepare_ledger
from ledger.store.statements import statement

_SECRET = b"a secret of the benchmark"
_START = datetime(2026, 1, 1, tzinfo=UTC)
_DAY = timedelta(hours=25)
_OLD = "old"
_SENDS, _SENDS_WHEN_QUICK = 100_000, 5_000
_SENDS_PER_THREAD = 10
_PER_ROUND, _PER_ROUND_WHEN_QUICK = 40, 10
_AT_A_TIME = 4_000


class History:
    """A ledger with one customer who got very many mails."""

    def __init__(self, stand: Stand) -> None:
        self.pace = stand.pace
        self.conninfo = stand.own_database()
        self.sends = stand.pace.size(_SENDS, _SENDS_WHEN_QUICK)
        self._now = _START
        self._days = 0
        migrate(self.conninfo)
        prepare_ledger(self.conninfo, _SECRET, Policy(), _START)
        asyncio.run(self._send())

    async def compare(self, cold: bool) -> list[Pair]:
        """One pair per round: medians of permits for the old customer, and for new ones."""
        session = PostgresWriter(self.conninfo)
        try:
            samples = _Sampling(session, cold)
            await samples.renew()
            rounds = [await self._round(samples) for _ in range(self.pace.rounds)]
            await samples.end()
        finally:
            await session.close()
        return rounds

    async def _round(self, samples: "_Sampling") -> Pair:
        old: list[float] = []
        new: list[float] = []
        for _ in range(self.pace.size(_PER_ROUND, _PER_ROUND_WHEN_QUICK)):
            self._next_day()
            sides = [(_OLD, old), (f"new-{self._days}", new)]
            for customer, times in sides if self._days % 2 else reversed(sides):
                times.append(await samples.take(customer, self._days))
        return Pair(_sample(old), _sample(new))

    def _next_day(self) -> None:
        """Move the test clock, so that no mail counts in a window any more."""
        self._days += 1
        self._now += _DAY
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute(statement("ledger", "set_clock"), {"now": self._now})

    async def _send(self) -> None:
        session = PostgresWriter(self.conninfo)
        engine = _engine(session)
        await engine.start()
        try:
            for start in range(0, self.sends, _AT_A_TIME):
                numbers = range(start, min(start + _AT_A_TIME, self.sends))
                _check(await engine.submit_all([_observed(n, self.sends) for n in numbers]))
        finally:
            await engine.stop()
            await session.close()


class _Sampling:
    """Times single permits; `cold` makes a new engine for each, with an empty cache."""

    def __init__(self, session: PostgresWriter, cold: bool) -> None:
        self._session = session
        self._cold = cold
        self._engine: Engine | None = None

    async def renew(self) -> Engine:
        """A new engine that has processed one unrelated request, as every running one has."""
        await self.end()
        self._engine = _engine(self._session)
        await self._engine.start()
        _check([await self._engine.submit(_customer(f"other-{uuid.uuid4()}"))])
        return self._engine

    async def end(self) -> None:
        """Stop the current engine."""
        if self._engine is not None:
            await self._engine.stop()

    async def take(self, customer: str, day: int) -> float:
        """Seconds that a permit for the customer takes; its mail is then reported as sent."""
        engine = await self.renew() if self._cold or self._engine is None else self._engine
        if customer != _OLD:
            _check([await engine.submit(_customer(customer))])
            engine = await self.renew() if self._cold else engine
        asked = RequestPermit(
            subject=notice_of(customer, "shipped", f"{customer}-{day}")[0],
            caller=SYSTEM,
            decision_id=str(uuid.uuid4()),
            request=b"{}",
            redeem=True,
        )
        started = time.perf_counter()
        answer = await engine.submit(asked)
        seconds = time.perf_counter() - started
        _check([answer], 201)
        _check([await engine.submit(ReportOutcome(asked.decision_id, "sent", SYSTEM))])
        return seconds


def warm(stand: Stand) -> Comparison:
    """With the customer in the engine's cache."""
    history = stand.once(History)
    return Comparison(asyncio.run(history.compare(cold=False)), [_note(history)])


def cold(stand: Stand) -> Comparison:
    """With a new engine; PostgreSQL's cache is warm."""
    history = stand.once(History)
    return Comparison(asyncio.run(history.compare(cold=True)), [_note(history)])


def _note(history: History) -> str:
    return f"{history.sends:,} past sends; timed at the engine, without HTTP"


def _engine(session: PostgresWriter) -> Engine:
    return Engine(session, Policy(), Identity(_SECRET, Policy().message_id_domain))


def _observed(n: int, count: int) -> ApplyFact:
    """The n-th of the sends of ten years, ten to a thread."""
    at = _START - timedelta(days=3650) * (1 - n / count) - timedelta(days=2)
    data = SendObserved(
        _OLD, at, thread_id=f"t-{n // _SENDS_PER_THREAD}", intent=f"i-{n % _SENDS_PER_THREAD}"
    )
    return ApplyFact(Fact(data, "bench", f"send-{n}", at), SYSTEM)


def _customer(customer_id: str) -> ApplyFact:
    return ApplyFact(Fact(CustomerObserved(customer_id, ())), SYSTEM)


def _check(answers: list[Answer], status: int = 200) -> None:
    odd = [answer for answer in answers if answer.status != status]
    if odd:
        raise RuntimeError(f"{len(odd)} answers were not {status}, the first: {odd[0].body!r}")


def _sample(times: list[float]) -> Sample:
    return Sample(median(times) * 1000, len(times), p50_ms=median(times) * 1000)
