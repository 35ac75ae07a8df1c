"""At 1 million open invoices the read side goes by its indexes, however its statements are planned.

The plans are those of the statements as they run, functions included (auto_explain). The tables are
filled once, on one server: LEDGER_TEST_POSTGRES names another than the embedded one.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from ledger.domain.policy import Policy
from ledger.store.embedded.cluster import SUPERUSER
from ledger.store.migrate import migrate
from projections.catching_up import take_in
from projections.connecting import connect
from projections.due import DuePage, due, ready, write_cursor
from projections.models import MODELS
from projections.schema import prepare
from tests.conftest import wanted_postgres
from tests.integration.store.explaining import Collector, Plan
from tests.support.log_copy import copy_log
from tests.support.postgres import fresh_database, running_postgres
from tests.support.read_side import story

CROWD = Path(__file__).with_name("crowd.sql")
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MIDNIGHT = datetime(2026, 12, 1, tzinfo=UTC)
FEW_DUE = datetime(2026, 11, 20, tzinfo=UTC)
ONE_ROW = {"policy", "projections", "projection_generations", "clock"}
PAGES_FOR_100 = 100 * 40
"""For each customer: their place in the order, their row, mails, address and two invoices."""
EXPLAIN = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "client_min_messages": "log",
}
MODES = ("force_custom_plan", "force_generic_plan")


@pytest.fixture(scope="module")
def crowd() -> Iterator[str]:
    """The conninfo of the filled ledger, as the superuser, who alone may load auto_explain."""
    kind = wanted_postgres() or "embedded"
    with running_postgres(kind, fast=True) as server, fresh_database(server) as database:
        migrate(database)
        asyncio.run(prepare(database, Policy()))
        database = make_conninfo(database, user=SUPERUSER)
        with psycopg.connect(database, autocommit=True) as connection:
            name = connection.info.dbname
            for setting, value in EXPLAIN.items():
                connection.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'".encode())
            for table in ("invoices_1.invoices", "customers_1.customers", "customers_1.mails"):
                # Its statistics would make servers plan anew at a moment that nobody knows.
                connection.execute(
                    f"ALTER TABLE projection_{table} SET (autovacuum_enabled = off)".encode()
                )
        yield database


async def explained(database: str, mode: str) -> tuple[AsyncConnection[Any], Collector]:
    """A reader's connection whose plans are collected."""
    collector = Collector()
    connection = await AsyncConnection.connect(
        database, autocommit=True, options=f"-c plan_cache_mode={mode} -c timezone=UTC"
    )
    connection.add_notice_handler(collector)
    return connection, collector


async def page(connection: AsyncConnection[Any], **how: Any) -> DuePage:
    """A page of what is due at NOW, unless said otherwise."""
    return await due(connection, policy=Policy(), **{"now": NOW, **how})


def assert_by_index(plan: Plan, most_pages: int) -> None:
    """No table is read through or sorted as a whole, and few pages are looked at."""
    for node in plan.nodes():
        if node.get("Relation Name", "") not in ONE_ROW:
            assert node["Node Type"] not in ("Seq Scan", "Hash Join"), plan
        removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Join Filter"))
        assert removed <= 1_000, plan
    assert plan.pages <= most_pages, plan


def fill(database: str) -> None:
    """Put the million in."""
    path = "-c search_path=projection_customers_1,projection_invoices_1,public"
    with psycopg.connect(database, options=f"{path} -c client_min_messages=warning") as connection:
        connection.execute(CROWD.read_bytes())


def test_a_statement_planned_while_its_tables_were_empty_still_goes_by_index(crowd: str) -> None:
    """This one fills the tables: it runs first, and leaves them without statistics."""

    async def steps() -> None:
        connection, collector = await explained(crowd, "auto")
        for _ in range(8):
            assert (await page(connection)).items == []
        await asyncio.to_thread(fill, crowd)
        collector.plans.clear()
        for _ in range(8):
            assert len((await page(connection)).items) == 100
        plans = collector.about("-- Customers with something newly due")
        assert len(plans) == 8
        for plan in plans:
            assert_by_index(plan, PAGES_FOR_100)
        await connection.close()

    asyncio.run(steps())
    with psycopg.connect(crowd, autocommit=True, options="-c client_min_messages=error") as db:
        db.execute("ANALYZE")


@pytest.mark.parametrize("mode", MODES)
def test_a_page_of_what_is_due_goes_by_index(crowd: str, mode: str) -> None:
    async def steps() -> None:
        connection, collector = await explained(crowd, mode)
        first = await page(connection)
        second = await page(connection, cursor=first.next)
        listed = await page(connection, ready=True)
        few = await page(connection, now=FEW_DUE, limit=1000)
        deep = await page(connection, cursor=write_cursor(MIDNIGHT, "cus_0400000"))
        assert [len(p.items) for p in (first, second, listed, few, deep)] == [100] * 3 + [300, 100]
        assert [p.items[0].customer_id for p in (first, second, listed, deep)] == [
            "cus_0000001",
            "cus_0000101",
            "cus_0000001",
            "cus_0400001",
        ]
        withheld = {c.customer_id: c.withheld for c in first.items if c.withheld}
        assert {n: w.code for n, w in withheld.items()} == {
            "cus_0000050": "cap_reached",
            "cus_0000100": "cap_reached",
        }
        plans = collector.about("-- Customers with something newly due")
        assert len(plans) == 5
        for plan, found in zip(plans, (first, second, listed, few, deep), strict=True):
            assert_by_index(plan, PAGES_FOR_100 * len(found.items) // 100)
        await connection.close()

    asyncio.run(steps())


@pytest.mark.parametrize("mode", MODES)
def test_whom_a_claim_asks_for_is_found_by_index(crowd: str, mode: str) -> None:
    """However many customers there are to pass over."""
    passed_over = [f"cus_{number:07}" for number in range(1, 501)]

    async def steps() -> None:
        connection, collector = await explained(crowd, mode)
        asked = {"now": NOW, "policy": Policy()}
        first = await ready(connection, **asked)
        second = await ready(connection, **asked, passing_over=passed_over)
        assert [len(p.items) for p in (first, second)] == [100, 100]
        assert [p.items[0].customer_id for p in (first, second)] == ["cus_0000001", "cus_0000501"]
        plans = collector.about("-- Customers with something newly due")
        for plan, most in zip(plans, (PAGES_FOR_100, PAGES_FOR_100 + 1_000), strict=True):
            assert_by_index(plan, most)
        await connection.close()

    asyncio.run(steps())


@pytest.mark.parametrize("mode", MODES)
def test_taking_in_a_range_goes_by_index(crowd: str, mode: str) -> None:
    """As many pages as there are things in the range, however many there are beside them."""
    scenario = story()

    async def steps() -> None:
        async with await AsyncConnection.connect(crowd, autocommit=True) as writer:
            row = await (await writer.execute("SELECT max(position) FROM events")).fetchone()
            if row == (None,):
                await copy_log(writer, scenario.store)
            await writer.execute("UPDATE projection_generations SET position = 0")
        collector = Collector()
        async with await connect(crowd, "projector") as connection:
            connection.add_notice_handler(collector)
            await connection.execute(f"SET plan_cache_mode = {mode}".encode())
            for model in MODELS.values():
                taken = await take_in(connection, model)
                assert taken is not None
                assert taken.position == len(scenario.store.rows)
        for words in ("INSERT INTO invoices", "INSERT INTO customers", "INSERT INTO mails"):
            assert collector.about(words), words
        for plan in collector.plans:
            assert_by_index(plan, 60 * len(scenario.store.rows))

    asyncio.run(steps())


def test_the_check_finds_a_plan_that_reads_too_much(crowd: str) -> None:
    async def steps() -> None:
        connection, collector = await explained(crowd, "auto")
        await connection.execute(
            "SELECT count(*) FROM projection_invoices_1.invoices WHERE currency = 'EUR'"
        )
        await connection.close()
        (plan,) = collector.about("WHERE currency = 'EUR'")
        with pytest.raises(AssertionError):
            assert_by_index(plan, 10**9)

    asyncio.run(steps())
