"""The stores of kept bodies and of work to be fetched: what repeats, races and time do to them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import psycopg
import pytest
from psycopg import AsyncConnection

from ledger.store.migrate import migrations
from ledger.store.statements import statement
from ledger.store.webhooks import refresh
from ledger.store.webhooks.rejected import (
    Reason,
    clear_old_rejected,
    dismiss_rejected,
    get_rejected,
    keep_rejected,
    list_rejected,
    note_replay,
)

Made = TypeVar("Made")
ODD, MONEY = Reason("malformed_json", "the body is not JSON"), Reason("unknown_money_event", "x")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def with_connections(database: str, work: Callable[..., Awaitable[Made]], number: int = 1) -> Made:
    """The result of `work` over that many connections of its own."""

    async def run() -> Made:
        opened = [await AsyncConnection.connect(database, autocommit=True) for _ in range(number)]
        try:
            return await work(*opened)
        finally:
            for connection in opened:
                await connection.close()

    return asyncio.run(run())


def rows(database: str, query: str) -> list[Any]:
    """What a query gives."""
    with psycopg.connect(database, autocommit=True) as db:
        return db.execute(query).fetchall()


def set_clock(database: str, now: datetime) -> None:
    """Let the ledger's clock show this time."""
    with psycopg.connect(database, autocommit=True) as db:
        db.execute(statement("ledger", "set_clock"), {"now": now})


def alerts(database: str) -> list[str]:
    """The dedupe keys of all alerts."""
    return [row[0] for row in rows(database, "SELECT dedupe_key FROM alerts ORDER BY alert_id")]


def test_one_body_in_many_copies_at_once_is_one_row_and_one_alert(database: str) -> None:
    async def post(db: AsyncConnection[Any]) -> list[int]:
        headers = {"a": "b", "authorization": "x"}
        posts = (keep_rejected(db, "stripe", [ODD, MONEY, ODD], headers, b"{") for _ in range(3))
        return [await each for each in posts]

    async def work(*connections: AsyncConnection[Any]) -> list[list[int]]:
        return list(await asyncio.gather(*map(post, connections)))

    ids = with_connections(database, work, 4)
    assert len({id_ for each in ids for id_ in each}) == 1
    stored = rows(database, "SELECT copies, kinds, headers FROM rejected_bodies")
    assert stored == [(12, ["malformed_json", "unknown_money_event"], {"a": "b"})]
    assert sorted(alerts(database)) == [
        "ingest_rejected:stripe:malformed_json:1",
        "ingest_rejected:stripe:unknown_money_event:1",
    ]


def test_many_bodies_of_one_kind_at_once_are_one_alert(database: str) -> None:
    async def post(number: int, db: AsyncConnection[Any]) -> None:
        for body in range(number, 20, 4):
            reasons = [MONEY, ODD] if body % 2 else [ODD, MONEY]
            await keep_rejected(db, "stripe", reasons, {}, b"%d" % body)

    async def work(*connections: AsyncConnection[Any]) -> None:
        await asyncio.gather(*(post(n, c) for n, c in enumerate(connections)))

    with_connections(database, work, 4)
    assert rows(database, "SELECT count(*) FROM rejected_bodies") == [(20,)]
    assert len(alerts(database)) == 2


def test_an_episode_ends_when_its_last_body_is_resolved(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> None:
        first = await keep_rejected(db, "stripe", [ODD], {}, b"1")
        second = await keep_rejected(db, "stripe", [ODD], {}, b"2")
        other = await keep_rejected(db, "chargebee", [ODD], {}, b"1")
        assert len({first, second, other}) == 3
        kept = await get_rejected(db, first)
        assert kept is not None
        await note_replay(db, kept.row, [])
        await keep_rejected(db, "stripe", [ODD], {}, b"3")
        assert await dismiss_rejected(db, second)
        assert not await dismiss_rejected(db, second)
        third = (await list_rejected(db, limit=10, provider="stripe"))[-1]
        await note_replay(db, third, [MONEY])
        await keep_rejected(db, "stripe", [ODD], {}, b"4")

    with_connections(database, work)
    assert alerts(database) == [
        "ingest_rejected:stripe:malformed_json:1",
        "ingest_rejected:chargebee:malformed_json:1",
        "ingest_rejected:stripe:unknown_money_event:1",
        "ingest_rejected:stripe:malformed_json:2",
    ]


def test_a_body_that_was_used_opens_again_and_a_dismissed_one_does_not(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> list[str | None]:
        used = await keep_rejected(db, "stripe", [ODD], {}, b"used")
        gone = await keep_rejected(db, "stripe", [ODD], {}, b"gone")
        kept = await get_rejected(db, used)
        assert kept is not None
        await note_replay(db, kept.row, [])
        await dismiss_rejected(db, gone)
        assert rows(database, "SELECT DISTINCT body, headers::text FROM rejected_bodies") == [
            (b"", "{}")
        ]
        await keep_rejected(db, "stripe", [ODD], {"a": "b"}, b"used")
        await keep_rejected(db, "stripe", [ODD], {"a": "b"}, b"gone")
        found = await list_rejected(db, limit=10, resolved=True)
        return [row.resolution for row in found]

    assert with_connections(database, work) == [None, "dismissed"]
    stored = "SELECT body, headers::text, copies FROM rejected_bodies ORDER BY rejected_id"
    assert rows(database, stored) == [(b"used", '{"a": "b"}', 2), (b"", "{}", 2)]
    assert alerts(database)[-1] == "ingest_rejected:stripe:malformed_json:2"


@pytest.mark.parametrize(("age", "left"), [(timedelta(days=30), 0), (timedelta(days=29), 1)])
def test_bodies_go_after_the_policys_days(database: str, age: timedelta, left: int) -> None:
    set_clock(database, NOW)
    with_connections(database, lambda db: keep_rejected(db, "stripe", [ODD], {}, b"x@y.example"))
    set_clock(database, NOW + age)
    assert with_connections(database, lambda db: clear_old_rejected(db, 30)) == 1 - left
    assert rows(database, "SELECT count(*) FROM rejected_bodies") == [(left,)]
    with_connections(database, lambda db: keep_rejected(db, "stripe", [ODD], {}, b"later"))
    assert len(alerts(database)) == 2 - left


def test_only_so_many_are_cleared_at_once(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> list[int]:
        for number in range(5):
            await keep_rejected(db, "stripe", [ODD], {}, b"%d" % number)
        return [await clear_old_rejected(db, 0, limit=2) for _ in range(4)]

    assert with_connections(database, work) == [2, 2, 1, 0]


def test_every_byte_of_a_body_and_its_headers_comes_back(database: str) -> None:
    body = bytes(range(256)) * 10
    headers = {"svix-id": "msg_1", "x-odd": "\u00e9\\u0000 '\""}

    async def work(db: AsyncConnection[Any]) -> Any:
        kept = await keep_rejected(db, "resend", [ODD], headers, body, "invoice")
        return await get_rejected(db, kept)

    found = with_connections(database, work)
    assert (found.body, found.headers, found.row.fetched) == (body, headers, "invoice")
    assert (found.row.size, found.row.reasons) == (2560, (ODD,))
    assert with_connections(database, lambda db: get_rejected(db, 999)) is None


def test_an_object_is_claimed_by_one_and_a_hint_during_the_fetch_asks_again(database: str) -> None:
    async def work(db: AsyncConnection[Any], other: AsyncConnection[Any]) -> None:
        for _ in range(3):
            await refresh.hint(db, "recurly", "invoice", "1031")
        await refresh.hint(db, "stripe", "dispute", "dp_1")
        both = await asyncio.gather(
            refresh.claim(db, ["recurly"], 4), refresh.claim(other, ["recurly"], 4)
        )
        (mine,) = [claimed for claimed in both if claimed]
        assert [(c.object_id, c.hints, c.attempts) for c in mine] == [("1031", 3, 1)]
        await refresh.hint(db, "recurly", "invoice", "1031")
        assert await refresh.claim(other, ["recurly"], 4) == []
        await refresh.fetched(db, mine[0])
        (again,) = await refresh.claim(db, ["recurly"], 4)
        assert (again.hints, again.refresh_id) == (4, mine[0].refresh_id)
        await refresh.fetched(db, again)
        assert await refresh.waiting(db) == {"stripe": 1}

    with_connections(database, work, 2)


def test_a_failed_fetch_waits_and_a_new_hint_ends_the_wait(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> None:
        await refresh.hint(db, "recurly", "invoice", "1031")
        (first,) = await refresh.claim(db, ["recurly"], 4)
        await refresh.failed(db, first, "unreachable", timedelta(hours=1))
        assert await refresh.claim(db, ["recurly"], 4) == []
        (row,) = await refresh.list_refresh(db, limit=10)
        assert (row.attempts, row.last_error, row.hints) == (1, "unreachable", 1)
        await refresh.hint(db, "recurly", "invoice", "1031")
        (second,) = await refresh.claim(db, ["recurly"], 4)
        assert (second.attempts, second.hints) == (1, 2)
        await refresh.hint(db, "recurly", "invoice", "1031")
        await refresh.failed(db, second, "unreachable", timedelta(hours=1))
        assert len(await refresh.claim(db, ["recurly"], 4)) == 1

    with_connections(database, work)


def test_a_claim_of_a_process_that_died_is_free_after_a_while(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> tuple[int, int]:
        await refresh.hint(db, "recurly", "invoice", "1031")
        await refresh.claim(db, ["recurly"], 4)
        held = len(await refresh.claim(db, ["recurly"], 4))
        await db.execute("UPDATE refresh_work SET claimed_until = clock_timestamp()")
        return held, len(await refresh.claim(db, ["recurly"], 4))

    assert with_connections(database, work) == (0, 1)


def test_overdue_work_is_told_by_provider(database: str) -> None:
    async def work(db: AsyncConnection[Any]) -> Any:
        for number in range(3):
            await refresh.hint(db, "recurly", "invoice", str(number))
        await refresh.hint(db, "stripe", "dispute", "dp_1")
        return await refresh.overdue(db, 60)

    set_clock(database, NOW)
    assert with_connections(database, work) == []
    set_clock(database, NOW + timedelta(minutes=60))
    found = with_connections(database, lambda db: refresh.overdue(db, 60))
    assert [(row.provider, row.count, row.first_hinted_at) for row in found] == [
        ("recurly", 3, NOW),
        ("stripe", 1, NOW),
    ]


def test_the_migration_keeps_what_was_there(empty_database: str) -> None:
    """Bodies kept by the first version: one row per reason before, one per body after."""
    with psycopg.connect(empty_database, autocommit=True) as db:
        for migration in migrations()[:3]:
            db.execute(migration.text.encode())
        for kind, body in (("a", b"1"), ("b", b"1"), ("a", b"2")):
            db.execute(
                "INSERT INTO rejected_bodies (partition, provider, kind, detail, headers, body,"
                " received_at) VALUES (0, 'stripe', %s, 'd', '{}', %s, now())",
                (kind, body),
            )
        db.execute(migrations()[3].text.encode())
    found = with_connections(empty_database, lambda db: list_rejected(db, limit=10))
    assert [(row.reasons, row.copies, row.size) for row in found] == [
        ((Reason("a", "d"),), 1, 1),
        ((Reason("a", "d"),), 1, 1),
    ]
