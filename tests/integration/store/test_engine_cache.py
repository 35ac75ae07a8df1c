"""What an engine keeps in memory is what the log says, whoever wrote it, however it failed (D4)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.application import batch
from ledger.application.caller import SYSTEM
from ledger.application.commands import (
    ApplyFact,
    BindAnswer,
    Command,
    Erase,
    Idempotency,
    Redeem,
    ReportOutcome,
    ResetBreaker,
)
from ledger.application.decide import decide
from ledger.application.effects import Outcome
from ledger.application.engine import Engine
from ledger.application.facts.customer_hold import CustomerHeld
from ledger.application.facts.customer_observed import CustomerObserved
from ledger.application.facts.customers_merged import CustomersMerged
from ledger.application.facts.fact import Fact
from ledger.application.kinds.reminder import Reminder
from ledger.application.limits import Limits
from ledger.application.world import World
from ledger.domain.identity import aggregate_id
from ledger.domain.invoice import Invoice
from ledger.store.log.transcoding import SNAPSHOT_TOPICS
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    NOON,
    address,
    all_of,
    ask,
    codes,
    engine_on,
    invoice,
    rows,
    set_clock,
)

SMALL = Limits(aggregates=6, catch_up=12)
"""So small that aggregates leave the cache and long absences empty it."""
_story = count()


@pytest.fixture
def application(database: str) -> Iterator[Application[UUID]]:
    """The library's own way to aggregates: from every event, by no snapshot."""
    env = {"PERSISTENCE_MODULE": "ledger.store.factory", "LEDGER_DATABASE_URL": database}
    with Application[UUID](env) as application:
        yield application


def kept(engine: Engine) -> dict[UUID, Aggregate | None]:
    return engine._cache.aggregates


def assert_kept_is_logged(engine: Engine, application: Application[UUID]) -> int:
    """Every aggregate in the engine's memory equals one replayed from zero; how many there were."""
    compared = 0
    for id_, held in kept(engine).items():
        if held is None:
            assert id_ not in application.repository
            continue
        replayed: Any = application.repository.get(id_)
        assert vars(held) == vars(replayed)
        compared += 1
    return compared


class Story:
    """Makes commands about a few invoices and customers of one example's own."""

    def __init__(self) -> None:
        self.name = f"s{next(_story)}"
        self.permits: list[str] = []

    def command(self, kind: str, a: int, b: int) -> Command | None:
        """A command of that kind; None where it needs a permit and there is none."""
        one, customer = f"{self.name}-inv-{a % 4}", f"{self.name}-cus-{b % 3}"
        if kind == "invoice":
            due = NOON - timedelta(days=b)
            return invoice(one, customer, due=due, remaining=a * 1_000)
        if kind == "ask":
            return ask(one)
        if kind == "hold":
            held = CustomerHeld(customer, f"reason {a % 2}", b % 2 == 0)
            return ApplyFact(Fact(held), SYSTEM)
        if kind == "addresses":
            emails = tuple(address(f"{n}@{self.name}.example") for n in range(a % 3))
            return ApplyFact(Fact(CustomerObserved(customer, emails)), SYSTEM)
        if kind == "merge":
            into = f"{self.name}-cus-{a % 3}"
            return ApplyFact(Fact(CustomersMerged(customer, into)), SYSTEM)
        if kind == "erase":
            return Erase(customer, "ann", SYSTEM)
        if kind == "reset":
            return ResetBreaker(customer, "ann", "looked at it", SYSTEM)
        if not self.permits:
            return None
        permit_id = self.permits[a % len(self.permits)]
        if kind == "redeem":
            return Redeem(permit_id, None, SYSTEM, str(uuid4()), b"{}")
        return ReportOutcome(permit_id, ("sent", "rejected", "unknown")[b % 3], SYSTEM)


KINDS = ["invoice", "ask", "hold", "addresses", "merge", "erase", "reset", "redeem", "outcome"]
STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["invoice", "ask", "ask", *KINDS]),
        st.integers(0, 30),
        st.integers(0, 30),
        st.sampled_from([0, 0, 1, 60, 60 * 26]),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=12)
@given(steps=STEPS)
def test_two_engines_keep_what_a_replay_from_zero_gives(
    application: Application[UUID], database: str, steps: list[tuple[int, str, int, int, int]]
) -> None:
    story = Story()

    async def scenario() -> None:
        now = (await rows(database, "SELECT coalesce(test_now, %s) FROM clock", NOON))[0][0]
        async with two_engines(database) as engines:
            for which, kind, a, b, minutes in steps:
                now += timedelta(minutes=minutes)
                set_clock(database, now)
                command = story.command(kind, a, b)
                if command is None:
                    continue
                answer = await engines[which].submit(command)
                assert answer.status < 500
                if answer.permit_id is not None and answer.status == 201:
                    story.permits.append(answer.permit_id)
            for engine in engines:
                await engine.submit(ask("nobody's"))
                assert_kept_is_logged(engine, application)
                assert len(kept(engine)) <= SMALL.aggregates

    asyncio.run(scenario())
    found = verify(database)
    assert (found.ok, found.problem) == (True, None)


@asynccontextmanager
async def two_engines(database: str) -> AsyncIterator[tuple[Engine, Engine]]:
    async with (
        engine_on(database, limits=SMALL) as one,
        engine_on(database, limits=SMALL) as other,
    ):
        yield one, other


def test_a_cache_catches_up_with_what_others_wrote(
    database: str, application: Application[UUID]
) -> None:
    async def scenario() -> None:
        async with engine_on(database) as one, engine_on(database) as other:
            await all_of(one, lambda n: invoice(f"inv-{n}"), 30)
            held = dict(kept(one))
            assert codes(await all_of(other, lambda n: ask(f"inv-{n}"), 30)) == ["granted"] * 30
            assert codes(await all_of(one, lambda n: ask(f"inv-{n}"), 30)) == ["permit_held"] * 30
            assert assert_kept_is_logged(one, application) >= 61
            first = aggregate_id("invoice", "inv-0")
            assert kept(one)[first] is held[first], "it was loaded anew, not caught up with"

    asyncio.run(scenario())


def test_a_failed_batch_leaves_nothing_in_the_cache(
    database: str, application: Application[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(world: World, command: Command) -> Outcome:
        if getattr(command, "request", b"") == b"poison":
            raise ZeroDivisionError
        return decide(world, command)

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 5)
            monkeypatch.setattr(batch, "decide", failing)
            commands = [ask(f"inv-{n}") for n in range(5)]
            object.__setattr__(commands[4], "request", b"poison")
            assert codes(await engine.submit_all(commands))[4] == "internal_error"
            assert assert_kept_is_logged(engine, application) == 8
            object.__setattr__(commands[0], "request", b"poison")
            assert codes([await engine.submit(commands[0])]) == ["internal_error"]
            assert_kept_is_logged(engine, application)

    asyncio.run(scenario())


def test_a_long_aggregate_is_loaded_from_its_snapshot(
    database: str, application: Application[UUID]
) -> None:
    """What the snapshot says is believed, and the events after it are added."""
    id_ = aggregate_id("invoice", "inv")

    async def write() -> None:
        async with engine_on(database) as engine:
            for remaining in range(1, 71):
                await engine.submit(invoice("inv", remaining=remaining))

    async def load() -> Invoice:
        async with engine_on(database) as engine:
            await engine.submit(ask("inv"))
            found = kept(engine)[id_]
        assert isinstance(found, Invoice)
        return found

    asyncio.run(write())
    (snapshot,) = asyncio.run(
        rows(database, "SELECT originator_id, originator_version, topic FROM snapshots")
    )[:1]
    topic = next(topic for topic, kind in SNAPSHOT_TOPICS.items() if kind is Invoice)
    assert snapshot == (id_, 64, topic)
    loaded = asyncio.run(load())
    replayed: Any = application.repository.get(id_)
    assert loaded.version >= 71
    assert vars(loaded) == vars(replayed)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE snapshots SET state = replace(state::text, '\"rejections\":{}',"
            ' \'"rejections":{"probe":5}\')::json'
        )
    assert asyncio.run(load()).rejections == {"probe": 5}
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE snapshots SET topic = 'ledger:Invoice#0'")
    assert asyncio.run(load()).rejections == {}
    with psycopg.connect(database) as connection:
        connection.execute("TRUNCATE snapshots")
    assert vars(asyncio.run(load())) == vars(application.repository.get(id_))


def test_a_snapshot_is_of_what_the_batch_leaves_behind(
    database: str, application: Application[UUID]
) -> None:
    """An aggregate that passes a multiple of 32 in the middle of a batch and goes on within it."""
    id_ = aggregate_id("invoice", "inv")

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice("inv", remaining=n + 1), 100)
            assert await rows(
                database, "SELECT originator_version FROM snapshots WHERE originator_id = %s", id_
            ) == [(101,)]
        async with engine_on(database) as cold:
            await cold.submit(ask("inv"))
            assert_kept_is_logged(cold, application)

    asyncio.run(scenario())


def test_an_engine_knows_since_when_the_log_holds_only_what_it_granted_to_claims(
    database: str,
) -> None:
    """What anybody else wrote counts as news, also where a claim comes upon it."""

    async def scenario() -> None:
        async with engine_on(database) as one, engine_on(database) as other:

            async def claimed(engine: Engine, number: int) -> None:
                request = ask(f"inv-{number}")
                claim = replace(request, subject=Reminder((f"inv-{number}",), claim=True))
                bind = BindAnswer(Idempotency(bytes([number]), b"f"), 200, b"[]", SYSTEM)
                assert codes(await engine.submit_all([claim, bind])) == ["granted", "200"]

            await all_of(one, lambda n: invoice(f"inv-{n}"), 6)
            told = one.position
            assert one.only_claims_since == told
            await claimed(one, 0)
            await claimed(one, 1)
            assert (one.only_claims_since, one.position) == (told, told + 4)
            assert codes([await one.submit(ask("inv-2"))]) == ["granted"]
            assert one.only_claims_since == one.position == told + 6
            await claimed(other, 3)
            assert other.only_claims_since == other.position == told + 8
            await claimed(one, 4)
            assert one.only_claims_since == one.position == told + 10
            await claimed(one, 5)
            assert codes([await one.submit(ask("inv-5"))]) == ["permit_held"]
            assert (one.only_claims_since, one.position) == (told + 10, told + 12)

    asyncio.run(scenario())
