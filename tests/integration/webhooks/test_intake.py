"""The intake where something breaks: our own reading, the engine, the store, or a full queue."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import psycopg
import pytest

from api.contract.cloud_events import fact_from
from api.contract.problems import ProblemError
from api.contract.translation import Translator
from api.running.recent_time import RecentTime
from api.webhooks import intake as webhook_intake
from api.webhooks.intake import Endpoint, Intake, Post
from api.webhooks.provider import BadSignature, Fact, Settings, Translation
from api.webhooks.signatures.sns_certificates import (
    CertificateNotHere,
    CertificateUnreachable,
    SnsCertificates,
)
from ledger.application.answers import Answer, plain_problem, unavailable
from ledger.application.caller import Caller
from ledger.application.commands import ApplyFact
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact as LedgerFact
from ledger.application.limits import Limits
from ledger.application.ports import StoreUnavailable
from ledger.application.world import Identity
from ledger.domain.policy import Policy
from ledger.store.connections import Connections
from ledger.store.log.reader import LedgerReader
from ledger.store.log.writer import PostgresWriter
from tests.unit.webhooks.bodies import known, sample, settings

Made = TypeVar("Made")
IDENTITY = Identity(b"the secret of the intake's tests", "ledger.example")
BODY = sample("stripe/invoice.overdue.constructed.json")
POST = Post("stripe", {"stripe-signature": "s"}, BODY)


class Told:
    """A provider that says what a test wants, or raises it."""

    name = "stripe"

    def __init__(self, verified: Any = None, translation: Any = None) -> None:
        self._verified, self._translation = verified, translation

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Raise what was given."""
        if self._verified is not None:
            raise self._verified

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """Give or raise what was given; else what Stripe says."""
        if isinstance(self._translation, Exception):
            raise self._translation
        if isinstance(self._translation, Translation):
            return self._translation
        return known("stripe").translate(headers, body, settings)


def taking(
    database: str,
    work: Callable[[Intake, Engine], Awaitable[Made]],
    limits: Limits | None = None,
) -> Made:
    """The result of `work` with an intake whose engine is running (unless it has limits)."""

    async def run() -> Made:
        connections, writer = Connections(database), PostgresWriter(database)
        engine = Engine(writer, Policy(), IDENTITY, limits or Limits())
        reader = LedgerReader(connections)
        intake = Intake(
            {"stripe": settings("stripe")},
            engine,
            Translator(IDENTITY),
            connections,
            RecentTime(reader.now, always_read=False),
            lambda: None,
        )
        await connections.open()
        if limits is None:
            await engine.start()
        try:
            return await work(intake, engine)
        finally:
            if limits is None:
                await engine.stop()
            intake.certificates.close()
            await connections.close()
            await writer.close()

    return asyncio.run(run())


def endpoint(provider: Told) -> Endpoint:
    """The endpoint of that provider."""
    return Endpoint(provider, settings("stripe"))


def kept(database: str) -> list[tuple[str, int]]:
    """The kinds of the kept bodies, and how many copies came."""
    with psycopg.connect(database) as db:
        return db.execute("SELECT kinds[1], copies FROM rejected_bodies").fetchall()


def always(answer: Answer) -> Callable[[Any], "asyncio.Future[Answer]"]:
    """An engine's `enqueue` that gives this answer to everything."""

    def enqueue(_: Any) -> "asyncio.Future[Answer]":
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        future.set_result(answer)
        return future

    return enqueue


def test_an_error_in_our_reading_keeps_the_body(database: str) -> None:
    broken = endpoint(Told(translation=ZeroDivisionError("secret@x.example")))
    taken = taking(database, lambda intake, _: intake.take(broken, POST))
    assert taken.summary == ("rejected", "translation_failed")
    assert kept(database) == [("translation_failed", 1)]
    assert "secret" not in taken.refused[0].detail


def test_a_fact_that_is_none_keeps_the_body_and_does_not_stop_the_others(database: str) -> None:
    good = known("stripe").translate({}, BODY, settings("stripe")).facts[0]
    facts = (
        replace(good, type="invoice.teleported", id="odd"),
        replace(good, data=good.data | {"total": "a lot"}, id="wrong"),
        good,
    )
    told = endpoint(Told(translation=Translation(facts=facts)))
    taken = taking(database, lambda intake, _: intake.take(told, POST))
    assert [result["result"] for result in taken.results] == ["rejected", "rejected", "applied"]
    assert {reason.kind for reason in taken.refused} == {"rejected_fact"}
    assert kept(database) == [("rejected_fact", 1)]


def test_an_error_in_our_checking_is_a_bad_signature(database: str) -> None:
    async def work(intake: Intake, _: Engine) -> Any:
        with pytest.raises(BadSignature) as refused:
            await intake.take(endpoint(Told(verified=ZeroDivisionError("secret"))), POST)
        return str(refused.value), dict(intake.counts.posts)

    message, counts = taking(database, work)
    assert "secret" not in message
    assert counts == {("stripe", "bad_signature", ""): 1}
    assert kept(database) == []


@pytest.mark.parametrize("problem", ["internal_error", "unauthorized"])
def test_a_fact_that_cannot_be_decided_is_kept_and_can_be_replayed(
    database: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(intake: Intake, engine: Engine) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(engine, "enqueue", always(plain_problem(problem, "no", 500)))
            first = await intake.take(endpoint(Told()), POST)
        return first.summary, (await intake.take(endpoint(Told()), POST)).summary

    assert taking(database, work) == (("rejected", "undecided_fact"), ("applied", ""))
    assert kept(database) == [("undecided_fact", 1)]


def test_where_the_engine_does_not_answer_the_provider_posts_again(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(intake: Intake, engine: Engine) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(engine, "enqueue", always(unavailable("down")))
            with pytest.raises(ProblemError) as told:
                await intake.take(endpoint(Told()), POST)
        return told.value.code, (await intake.take(endpoint(Told()), POST)).summary

    assert taking(database, work) == ("unavailable", ("applied", ""))
    assert kept(database) == []


def test_where_nothing_can_be_kept_the_provider_posts_again(database: str) -> None:
    async def work(intake: Intake, _: Engine) -> None:
        await intake._connections.close()
        with pytest.raises(StoreUnavailable):
            await intake.take(endpoint(Told(translation=ZeroDivisionError())), POST)
        assert intake.counts.posts[("stripe", "unavailable", "")] == 1

    taking(database, work)


def test_a_full_queue_is_waited_for_and_then_is_a_503(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_intake, "_PATIENCE_SECONDS", 0.05)
    facts = tuple(
        Fact(f"f{number}", "stripe", "invoice.payment", datetime(2026, 1, 1, tzinfo=UTC), data)
        for number, data in enumerate(
            [
                {"invoice_id": "i", "payment_id": str(n), "amount": 1, "state": "failed"}
                for n in range(10)
            ]
        )
    )

    async def work(intake: Intake, engine: Engine) -> Any:
        many = endpoint(Told(translation=Translation(facts=facts)))
        first, second = (asyncio.create_task(intake.take(many, POST)) for _ in range(2))
        while engine.waiting < 6:
            await asyncio.sleep(0.001)
        with pytest.raises(ProblemError, match="too much to do"):
            await intake.take(many, POST)
        monkeypatch.setattr(webhook_intake, "_PATIENCE_SECONDS", 10.0)
        third = asyncio.create_task(intake.take(many, POST))
        await asyncio.sleep(0)
        assert engine.waiting == 6
        await engine.start()
        taken = [await task for task in (first, second, third)]
        await engine.stop()
        return sorted(result["result"] for each in taken for result in each.results)

    results = taking(database, work, Limits(queue=4, reserved=2))
    assert results == ["applied"] * 10 + ["duplicate"] * 20


def test_recent_time_is_read_rarely_unless_it_is_a_test_clock() -> None:
    reads: list[datetime] = []

    async def read() -> datetime:
        await asyncio.sleep(0)
        reads.append(datetime(2026, 12, 1, tzinfo=UTC))
        return reads[-1]

    async def ask(always_read: bool) -> list[datetime]:
        time = RecentTime(read, always_read=always_read)
        told = await asyncio.gather(*(time.now() for _ in range(20)))
        return sorted(told)

    told = asyncio.run(ask(False))
    assert len(reads) == 1
    assert timedelta(0) <= told[-1] - reads[0] < timedelta(seconds=2)
    assert asyncio.run(ask(True)) == [reads[0]] * 20
    assert len(reads) == 21


def test_recent_time_says_so_where_it_cannot_be_read() -> None:
    async def read() -> datetime:
        raise StoreUnavailable

    time = RecentTime(read, always_read=False)
    with pytest.raises(StoreUnavailable):
        asyncio.run(time.now())


def test_certificates_are_fetched_once_for_all_who_wait_and_few_are_kept() -> None:
    asked: list[str] = []

    def fetch(address: str) -> bytes:
        asked.append(address)
        if "bad" in address:
            raise BadSignature("no")
        if "down" in address:
            raise CertificateUnreachable
        return address.encode()

    async def work() -> None:
        certificates = SnsCertificates(fetch)
        with pytest.raises(CertificateNotHere):
            certificates.get("a")
        await asyncio.gather(*(certificates.fetch("a") for _ in range(10)))
        assert certificates.get("a") == b"a"
        assert asked == ["a"]
        await certificates.fetch("bad")
        with pytest.raises(BadSignature):
            certificates.get("bad")
        for _ in range(2):
            with pytest.raises(CertificateUnreachable):
                await certificates.fetch("down")
        assert asked == ["a", "bad", "down", "down"]
        for number in range(40):
            await certificates.fetch(str(number))
        with pytest.raises(CertificateNotHere):
            certificates.get("a")
        assert certificates.get("39") == b"39"
        certificates.close()

    asyncio.run(work())


def test_a_large_body_is_read_beside_the_event_loop(database: str) -> None:
    """While one reads a mebibyte of nonsense, others are answered."""
    large = replace(POST, body=b"[" * 2**20)

    async def work(intake: Intake, _: Engine) -> tuple[str, str]:
        first, second = await asyncio.gather(
            intake.take(endpoint(Told()), large), intake.take(endpoint(Told()), POST)
        )
        return first.summary[1], second.summary[0]

    assert taking(database, work) == ("malformed_json", "applied")


def test_webhooks_have_places_of_their_own_in_a_full_queue(database: str) -> None:
    """Senders who fill the queue are refused; a provider is not."""
    sender = Caller("key_1", "sender", frozenset({"facts"}), redeem_required=False)

    async def work(intake: Intake, engine: Engine) -> Any:
        told = fact_from(Translator(IDENTITY), FAILED_PAYMENT)
        assert isinstance(told, LedgerFact)
        flood = [engine.enqueue(ApplyFact(told, sender)) for _ in range(6)]
        assert [future.done() for future in flood] == [False] * 4 + [True] * 2
        taken = asyncio.create_task(intake.take(endpoint(Told()), POST))
        while engine.waiting < 5:
            await asyncio.sleep(0.001)
        await engine.start()
        summary = (await taken).summary
        await engine.stop()
        return summary

    assert taking(database, work, Limits(queue=4, reserved=2)) == ("applied", "")


FAILED_PAYMENT: dict[str, Any] = {
    "id": "f",
    "source": "tests",
    "type": "invoice.payment",
    "data": {"invoice_id": "i", "payment_id": "p", "amount": 1, "state": "failed"},
}
