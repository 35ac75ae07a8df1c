"""The views for analysts stay what they are: through rebuilds, upgrades and downgrades."""

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from projections import rebuild as rebuilding
from projections import views
from projections.rebuild import rebuild
from projections.schema import prepare
from projections.statements import statement
from projections.views import VIEWS, point_views
from tests.support.data_dictionary import PAGE, dictionary
from tests.support.read_side import ReadSide, story, with_read_side

MINE = "SELECT state, sends FROM mine.by_state ORDER BY state"


async def with_my_view(side: ReadSide) -> None:
    """A schema of the user with a view over one for analysts."""
    await side.append()
    await side.catch_up()
    await side.rows("CREATE SCHEMA mine")
    await side.rows(
        "CREATE VIEW mine.by_state AS SELECT state, count(*) AS sends FROM analytics.sends"
        " GROUP BY state"
    )


def test_a_users_view_outlives_a_rebuild_of_what_it_reads(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await with_my_view(side)
        before = await side.rows(MINE)
        assert sum(count for _, count in before) > 10
        await rebuild(side.conninfo, "customers", side.policy)
        assert "projection_customers_1" not in await side.schemas()
        assert await side.rows(MINE) == before
        await side.rows("DELETE FROM projection_customers_2.mails WHERE state = 'sent'")
        assert await side.rows(MINE) == [row for row in before if row[0] != "sent"]

    with_read_side(database, story(), steps)


def test_a_query_that_holds_a_view_holds_no_rebuild_up(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "_DROP_TRIES_FOR", 0.0)

    async def steps(side: ReadSide) -> None:
        await with_my_view(side)
        async with await AsyncConnection.connect(side.conninfo) as analyst:
            await analyst.execute("SELECT count(*) FROM analytics.sends")
            await rebuild(side.conninfo, "customers", side.policy)
            # The old tables are there, and are what the views still read.
            assert {"projection_customers_1", "projection_customers_2"} <= set(await side.schemas())
            assert (await side.status())["customers"].generation == 2
            found = await analyst.execute(MINE.encode())
            assert sum(count for _, count in await found.fetchall()) > 10
        await rebuild(side.conninfo, "customers", side.policy)
        assert [name for name in await side.schemas() if "customers" in name] == [
            "projection_customers_3"
        ]
        assert len(await side.rows(MINE)) > 1

    with_read_side(database, story(), steps)


def another_program(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """From here on the program has another text of the view `feeds`."""

    def changed(folder: str, name: str) -> str:
        return text if (folder, name) == ("views", "feeds") else statement(folder, name)

    monkeypatch.setattr(views, "statement", changed)
    views._text.cache_clear()


def test_a_newer_program_adds_columns_and_an_older_one_leaves_them_there(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = statement("views", "feeds")
    new = old.replace("\nFROM", ",\n    f.applied * 2 AS twice_count, 'x'::text AS letter\nFROM")

    async def steps(side: ReadSide) -> None:
        await side.rows(
            "INSERT INTO feeds VALUES (0, 'billing', now(), now(), true, 3, 0, 0, 0, 0, NULL)"
        )
        another_program(monkeypatch, new)
        await prepare(side.conninfo, side.policy)
        await side.rows("CREATE SCHEMA mine")
        await side.rows(
            "CREATE VIEW mine.fed AS SELECT source, twice_count, letter FROM analytics.feeds"
        )
        assert await side.rows("SELECT * FROM mine.fed") == [("billing", 6, "x")]
        another_program(monkeypatch, old)
        await prepare(side.conninfo, side.policy)
        assert await side.rows("SELECT * FROM mine.fed") == [("billing", None, None)]
        assert await side.rows("SELECT applied_count FROM analytics.feeds") == [(3,)]
        another_program(monkeypatch, new)
        await prepare(side.conninfo, side.policy)
        assert await side.rows("SELECT * FROM mine.fed") == [("billing", 6, "x")]

    try:
        with_read_side(database, story(), steps)
    finally:
        views._text.cache_clear()


def test_what_a_view_of_a_newer_program_reads_is_not_dropped(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rebuilding, "_DROP_TRIES_FOR", 0.0)

    async def steps(side: ReadSide) -> None:
        await with_my_view(side)
        await side.rows("CREATE VIEW analytics.later AS TABLE projection_customers_1.mails")
        count = await side.rows("SELECT count(*) FROM analytics.later")
        await rebuild(side.conninfo, "customers", side.policy)
        assert "projection_customers_1" in await side.schemas()
        assert await side.rows("SELECT count(*) FROM analytics.later") == count
        await side.rows("DROP VIEW analytics.later")
        await rebuild(side.conninfo, "customers", side.policy)
        assert "projection_customers_1" not in await side.schemas()

    with_read_side(database, story(), steps)


def test_a_view_waits_for_the_rebuild_of_a_read_model_of_another_version(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await with_my_view(side)
        await side.rows("UPDATE projection_generations SET version = 1 WHERE name = 'customers'")
        await side.rows("DROP VIEW analytics.sends CASCADE")
        assert await point_views(side.connection)
        assert await side.rows("SELECT to_regclass('analytics.sends')::text") == [(None,)]
        await rebuild(side.conninfo, "customers", side.policy)
        (found,) = await side.rows("SELECT count(*) FROM analytics.sends")
        assert found[0] > 10

    with_read_side(database, story(), steps)


def test_the_progress_says_how_fresh_the_views_are(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append(40)
        await side.catch_up()
        end = await side.append()
        rows = await side.rows("SELECT * FROM analytics.progress ORDER BY read_model")
        assert [row[0] for row in rows] == ["analytics", "customers", "incidents", "invoices"]
        assert {row[1:] for row in rows} == {(40, end, end - 40, False)}

    with_read_side(database, story(), steps)


def columns_of(database: str) -> list[tuple[str, str, str, str | None]]:
    """Each column of each view, its type and its comment."""
    with psycopg.connect(database) as connection:
        found: list[Any] = connection.execute(
            "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),"
            " col_description(a.attrelid, a.attnum) FROM pg_attribute a"
            " JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'analytics'::regnamespace AND a.attnum > 0"
            " ORDER BY c.relname, a.attnum"
        ).fetchall()
    return found


UNITS = {
    "timestamp with time zone": ("_at", "_until", "_from", "_to"),
    "date": ("_on", "_from", "day"),
    "boolean": ("is_",),
    "bigint": ("_count", "_minor_units", "_position"),
    "integer": ("_count", "cycle", "http_status"),
    "double precision": ("_seconds",),
    "uuid": ("_id", "_key"),
}


def test_columns_have_comments_and_names_that_say_their_units(database: str) -> None:
    asyncio.run(prepare(database, story().policy))
    columns = columns_of(database)
    assert {view for view, *_ in columns} == set(VIEWS)
    assert [column for column in columns if not column[3]] == []
    for view, name, kind, _ in columns:
        if kind == "text":
            continue
        fits = any(name.endswith(unit) or name.startswith(unit) for unit in UNITS[kind])
        assert fits, f"{view}.{name} is {kind}"
    assert [name for _, name, _, _ in columns if "address" in name or "email" in name] == []


def test_the_data_dictionary_says_what_the_comments_say(database: str) -> None:
    asyncio.run(prepare(database, story().policy))
    assert PAGE.read_text(encoding="utf-8") == dictionary(database)
