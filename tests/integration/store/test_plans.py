"""At 1 million invoices every statement of the hot path goes by its index, however it is planned.

The plans are those of a real engine's own statements, functions included. One ledger is filled
once, on one server: LEDGER_TEST_POSTGRES names another than the embedded one.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from hashlib import md5, sha256
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from ledger.application.commands import Command
from ledger.application.engine import Engine
from ledger.application.ports import Batch, Need
from ledger.domain.permit import Lane, Permit, State
from ledger.domain.policy import Policy
from ledger.store.embedded.cluster import SUPERUSER
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate
from ledger.store.statements import statement
from tests.conftest import wanted_postgres
from tests.integration.store.engines import IDENTITY, NOON, ask, codes, invoice, set_clock
from tests.integration.store.explaining import (
    EXPLAINED,
    Collector,
    CustomPlans,
    ExplainingTimeouts,
    ExplainingWriter,
    GenericPlans,
    Plan,
)
from tests.support.postgres import fresh_database, running_postgres

CROWD = Path(__file__).with_name("crowd.sql")
NIL = "00000000-0000-4000-8000-000000000000"
LOOKED_UP = 20
"""How many of each kind one statement looks up."""
MOST_TO_LOAD = 8 * LOOKED_UP * 6
"""Pages: for each of 8 kinds of things the levels of an index, the rows, some slack."""
MOST_TO_WRITE = 200 * LOOKED_UP
"""Pages: a batch of 3 commands for each, with all that comes with them."""
ONE_ROW = {"partitions", "clock", "settings", "keys", "migrations"}
_story = count()


@dataclass
class Crowd:
    """A ledger with 1 million invoices, and how an engine that knew it empty went on.

    `database` is reached as the superuser, who alone may load auto_explain.
    """

    database: str
    planned_while_empty: Collector
    answers: list[str]


@asynccontextmanager
async def explained(
    database: str, timeouts: Timeouts
) -> AsyncIterator[tuple[Engine, ExplainingWriter]]:
    writer = ExplainingWriter(database, timeouts)
    engine = Engine(writer, Policy(), IDENTITY)
    await engine.start()
    try:
        yield engine, writer
    finally:
        await engine.stop()
        await writer.close()


def some_work() -> list[Command]:
    """New invoices with an address, requests for them under keys, and again: a whole batch."""
    name = f"w{next(_story)}"
    new = [
        invoice(f"{name}-{n}", email=f"{name}-{n}@example.com", due=NOON - timedelta(days=4))
        for n in range(LOOKED_UP)
    ]
    asked = [ask(f"{name}-{n}", key=f"{name}-{n}") for n in range(LOOKED_UP)]
    return [*new, *asked, *(ask(f"{name}-{n}") for n in range(LOOKED_UP))]


EXPECTED = ["200"] * LOOKED_UP + ["granted"] * LOOKED_UP + ["permit_held"] * LOOKED_UP


def fill(database: str) -> None:
    """Puts the crowd behind what the log already holds."""
    permit = Permit(
        NIL, "reminder", Lane.OUTREACH, State.GRANTED, "cus", "key", "poller", True, NOON, NOON
    )
    with psycopg.connect(database) as connection, psycopg.ClientCursor(connection) as cursor:
        cursor.execute("SELECT max(position) FROM events")
        row = cursor.fetchone()
        assert row is not None
        document = orjson.dumps(permit).decode()
        cursor.execute(CROWD.read_bytes(), {"after": row[0], "permit": document})


def keep_statistics_away(database: str) -> None:
    """No autovacuum: it would make servers plan anew at a moment that nobody knows."""
    with psycopg.connect(database) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        for (table,) in tables:
            connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())


async def fill_under_a_running_engine(database: str) -> Crowd:
    async with explained(database, ExplainingTimeouts()) as (engine, writer):
        await engine.submit(ask("nobody's"))
        keep_statistics_away(database)
        for _ in range(8):
            assert codes(await engine.submit_all(some_work())) == EXPECTED
        writer.collector.plans.clear()
        await asyncio.to_thread(fill, database)
        answers = codes(await engine.submit_all(some_work()))
        await writer.begin()
        await writer.load(a_need())
        await writer.rollback()
        return Crowd(database, writer.collector, answers)


@pytest.fixture(scope="module")
def crowd() -> Iterator[Crowd]:
    kind = wanted_postgres() or "embedded"
    with running_postgres(kind, fast=True) as server, fresh_database(server) as database:
        migrate(database)
        database = make_conninfo(database, user=SUPERUSER)
        set_clock(database, NOON)
        crowd = asyncio.run(fill_under_a_running_engine(database))
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("ANALYZE")
        yield crowd


def of_crowd(what: str, n: int) -> UUID:
    return UUID(md5(f"{what} {n}".encode()).hexdigest())


def a_need() -> Need:
    """Look-ups all over the crowd, some of them of what does not exist."""
    numbers = range(1_000, 1_000 + 7_919 * LOOKED_UP, 7_919)
    assert len(numbers) == LOOKED_UP
    return Need(
        aggregates={of_crowd("invoice", n) for n in numbers},
        permits={str(of_crowd("permit", n)) for n in numbers},
        names={("fact", f"fact {n}") for n in numbers},
        bindings={sha256(f"scope {n}".encode()).digest() for n in numbers},
        owners={f"cus-{n // 4}" for n in numbers},
        fingerprints={md5(f"address {n}".encode()).hexdigest() for n in numbers},
        answers={str(of_crowd("permit", n)) for n in numbers},
    )


def assert_by_index(plan: Plan, most_pages: int) -> None:
    """No table is read through, nothing is read to be thrown away, few pages are looked at."""
    for node in plan.nodes():
        table = node.get("Relation Name", "")
        if table in ONE_ROW:
            continue
        assert node["Node Type"] != "Seq Scan", f"{table} is read through: {plan.query}"
        removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
        assert removed <= 5 * LOOKED_UP, f"{removed} rows too many of {table}: {plan.query}"
    assert plan.pages <= most_pages, f"{plan.pages} pages, not {most_pages}: {plan.query}"


def assert_hot_path(collector: Collector) -> None:
    """Every statement that a batch is made of was seen, and went by its indexes."""
    for words in (
        "take_writer_lock()",
        "ORDER BY e.position DESC LIMIT 1",
        "-- Everything that a batch of decisions needs",
        "INSERT INTO events",
        "INSERT INTO decisions",
        "INSERT INTO permits",
        "INSERT INTO names",
        "INSERT INTO idempotency",
        "INSERT INTO contacts",
        "INSERT INTO invoice_owners",
    ):
        assert collector.about(words), f"not seen: {words}"
    for plan in collector.plans:
        written = plan.query.lstrip().startswith(("INSERT", "SELECT append_batch"))
        most = MOST_TO_WRITE if written else MOST_TO_LOAD
        assert_by_index(plan, most)


def test_statements_planned_while_their_tables_were_empty_still_go_by_index(crowd: Crowd) -> None:
    """Without statistics since, in the plans that eight batches had brought about (traps)."""
    assert crowd.answers == EXPECTED
    assert_hot_path(crowd.planned_while_empty)


@pytest.mark.parametrize("timeouts", [CustomPlans(), GenericPlans()], ids=["custom", "generic"])
def test_a_batch_goes_by_index(crowd: Crowd, timeouts: Timeouts) -> None:
    async def scenario() -> None:
        async with explained(crowd.database, timeouts) as (engine, writer):
            assert codes(await engine.submit_all(some_work())) == EXPECTED
            assert_hot_path(writer.collector)

    asyncio.run(scenario())


@pytest.mark.parametrize("timeouts", [CustomPlans(), GenericPlans()], ids=["custom", "generic"])
def test_loading_takes_one_probe_for_each_thing(crowd: Crowd, timeouts: Timeouts) -> None:
    async def scenario() -> None:
        writer = ExplainingWriter(crowd.database, timeouts)
        await writer.begin()
        loaded = await writer.load(a_need())
        await writer.rollback()
        await writer.close()
        assert len(loaded.aggregates) == LOOKED_UP
        assert {a.version for a in loaded.aggregates.values()} == {1, 2}
        for found in (loaded.permits, loaded.names, loaded.bindings, loaded.contacts):
            assert len(found) == LOOKED_UP
        assert len(loaded.answers) == LOOKED_UP
        assert sum(len(owned) for owned in loaded.owned.values()) == 4 * LOOKED_UP
        (plan,) = writer.collector.about("-- Everything that a batch of decisions needs")
        assert_by_index(plan, MOST_TO_LOAD)

    asyncio.run(scenario())


@pytest.mark.parametrize("timeouts", [CustomPlans(), GenericPlans()], ids=["custom", "generic"])
def test_catching_up_and_looking_again_go_by_index(crowd: Crowd, timeouts: Timeouts) -> None:
    async def scenario() -> None:
        writer = ExplainingWriter(crowd.database, timeouts)
        head = await writer.begin()
        assert len(await writer.events_since(head.position - 50, 20_000)) == 50
        batch = Batch(head)
        await writer.rollback()
        assert await writer.committed(batch) is False
        await writer.rollback()
        await writer.close()
        (since,) = writer.collector.about("AND position > ")
        assert_by_index(since, 100)
        (committed,) = writer.collector.about("-- Did a batch commit")
        assert_by_index(committed, 40)

    asyncio.run(scenario())


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_what_the_sweeper_asks_each_second_goes_by_index(crowd: Crowd, mode: str) -> None:
    """On a reader's connection, with 200,000 permits of which every one has lapsed."""

    async def scenario() -> None:
        collector = Collector()
        options = f"{EXPLAINED} -c plan_cache_mode={mode}"
        async with await AsyncConnection.connect(crowd.database, options=options) as connection:
            connection.add_notice_handler(collector)

            async def found(name: str, **values: int) -> list[Any]:
                cursor = await connection.execute(statement("permits", name), values, prepare=True)
                return await cursor.fetchall()

            assert len(await found("lapsed", limit=LOOKED_UP)) == LOOKED_UP
            assert (await found("long_unknown", minutes=60))[0][0] == 0
        for words in ("'granted', 'redeemed'", "p.state = 'unknown'"):
            (plan,) = collector.about(words)
            assert_by_index(plan, 20 * LOOKED_UP)

    asyncio.run(scenario())


def test_the_check_itself_finds_a_plan_that_reads_too_much(crowd: Crowd) -> None:
    """Once by no index, once by all of an index."""

    async def scenario() -> None:
        writer = ExplainingWriter(crowd.database, CustomPlans())
        await writer.begin()
        connection = writer._required()
        await connection.execute("SELECT count(*) FROM permits WHERE customer_id = 'cus-7'")
        await connection.execute(
            "SELECT count(*) FROM names WHERE partition = 0 AND kind = 'fact' AND target = 'x'"
        )
        await writer.rollback()
        await writer.close()
        (through,) = writer.collector.about("FROM permits")
        with pytest.raises(AssertionError, match="permits is read through"):
            assert_by_index(through, 1_000_000)
        (index,) = writer.collector.about("FROM names")
        with pytest.raises(AssertionError, match="rows too many of names"):
            assert_by_index(index, 1_000_000)
        index.root.pop("Plans")
        index.root.pop("Rows Removed by Filter", None)
        with pytest.raises(AssertionError, match="pages, not 1000"):
            assert_by_index(index, 1_000)

    asyncio.run(scenario())


def test_a_cold_engine_decides_at_once(crowd: Crowd) -> None:
    """Without a cache, at 1 million invoices: as many pages as there are things to look up."""

    async def scenario() -> None:
        writer = PostgresWriter(crowd.database)
        engine = Engine(writer, Policy(), IDENTITY)
        await engine.start()
        work = some_work()
        assert codes(await engine.submit_all(work)) == EXPECTED
        await engine.stop()
        await writer.close()

    asyncio.run(scenario())
