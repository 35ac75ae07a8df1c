"""The table of sources: what is added to it, who is silent, and how it is listed and bounded."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from ledger.store import feeds
from ledger.store.feeds import HeardFacts, list_feeds, note_heard, note_silence, silent_feeds

NOW = datetime(2026, 12, 4, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def heard(source: str, at: datetime = NOW, money: bool = True, **results: int) -> HeardFacts:
    """What a process heard of a source."""
    counts = dict.fromkeys(("applied", "duplicate", "stale", "ignored", "rejected"), 0)
    return HeardFacts(source, at, money, **(counts | results))


def at_test_time(database: str, steps: Callable[[Any], Awaitable[None]]) -> None:
    """Run the steps on a ledger whose clock stands at NOW."""

    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            await connection.execute("UPDATE clock SET test_now = %s", (NOW,))
            await steps(connection)

    asyncio.run(run())


def test_what_processes_heard_adds_up(database: str) -> None:
    async def steps(connection: Any) -> None:
        await note_heard(connection, [heard("erp", NOW, False, applied=2, stale=1)])
        await note_heard(connection, [heard("erp", NOW - HOUR, True, applied=1, rejected=3)])
        [row], more = await list_feeds(connection, "", 10)
        assert (row.first_heard_at, row.last_heard_at) == (NOW, NOW)
        assert (row.tells_of_money, row.silent_since, more) == (True, None, False)
        assert row.results == {
            "applied": 3,
            "duplicate": 0,
            "stale": 1,
            "ignored": 0,
            "rejected": 3,
        }
        await note_heard(connection, [heard("erp", NOW, False)])
        [row], _ = await list_feeds(connection, "", 10)
        assert row.tells_of_money

    at_test_time(database, steps)


def test_silent_is_who_told_of_money_and_was_not_heard_for_so_long(database: str) -> None:
    async def steps(connection: Any) -> None:
        await note_heard(
            connection,
            [
                heard("b", NOW - 2 * HOUR),
                heard("a", NOW - 2 * HOUR),
                heard("long", NOW - 9 * HOUR),
                heard("mail", NOW - 9 * HOUR, money=False),
                heard("new", NOW - 2 * HOUR + timedelta(microseconds=1)),
            ],
        )
        found = await silent_feeds(connection, 2)
        assert found == [
            ("long", NOW - 9 * HOUR),
            ("a", NOW - 2 * HOUR),
            ("b", NOW - 2 * HOUR),
        ]

    at_test_time(database, steps)


def test_silence_is_noted_once_and_ends_with_the_next_fact(database: str) -> None:
    async def steps(connection: Any) -> None:
        await note_heard(connection, [heard("erp", NOW - 9 * HOUR)])
        await note_silence(connection, "erp", NOW - 8 * HOUR)
        assert len(await silent_feeds(connection, 2)) == 1, "it was heard since"
        await note_silence(connection, "erp", NOW - 9 * HOUR)
        assert await silent_feeds(connection, 2) == []
        [row], _ = await list_feeds(connection, "", 10)
        assert row.silent_since == NOW
        await note_heard(connection, [heard("erp", NOW)])
        [row], _ = await list_feeds(connection, "", 10)
        assert row.silent_since is None

    at_test_time(database, steps)


def test_pages_by_name(database: str) -> None:
    async def steps(connection: Any) -> None:
        await note_heard(connection, [heard(name) for name in ("c", "a", "B")])
        page, more = await list_feeds(connection, "", 2)
        assert ([row.source for row in page], more) == (["B", "a"], True)
        page, more = await list_feeds(connection, "a", 2)
        assert ([row.source for row in page], more) == (["c"], False)

    at_test_time(database, steps)


def test_a_sender_that_invents_sources_does_not_fill_the_disk(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_FEEDS", 2)

    async def steps(connection: Any) -> None:
        await note_heard(connection, [heard("a")])
        await note_heard(connection, [heard("b")])
        await note_heard(connection, [heard("c"), heard("a", applied=1)])
        page, _ = await list_feeds(connection, "", 10)
        assert [(row.source, row.results["applied"]) for row in page] == [("a", 1), ("b", 0)]

    at_test_time(database, steps)
