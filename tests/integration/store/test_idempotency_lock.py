"""The idempotency lock runs requests with one key one at a time, within and between processes."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import psycopg
import pytest

from ledger.application.ports import StoreUnavailable
from ledger.store.idempotency_lock import IdempotencyLock

ONE, OTHER = b"1" * 32, b"2" * 32


async def _asking(conninfo: str, sessions: int) -> None:
    """Until so many processes have asked for a lock."""
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as db:
        for _ in range(1_000):
            cursor = await db.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'send-ledger twins' AND query LIKE '%try_advisory%'"
            )
            if await cursor.fetchone() == (sessions,):
                return
            await asyncio.sleep(0.01)
    raise AssertionError("nobody asked")


def _run(conninfo: str, test: Any, **given: float) -> None:
    async def run() -> None:
        first, second = IdempotencyLock(conninfo), IdempotencyLock(conninfo, **given)
        try:
            await test(first, second)
        finally:
            await first.close()
            await second.close()

    asyncio.run(run())


async def _pass(lock: IdempotencyLock, scope: bytes, order: list[str], name: str) -> None:
    async with lock.hold(scope):
        order.append(name)


def _task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(work)


def test_a_twin_in_another_process_waits_and_another_key_does_not(database: str) -> None:
    async def test(first: IdempotencyLock, second: IdempotencyLock) -> None:
        order: list[str] = []
        async with first.hold(ONE):
            waiting = _task(_pass(second, ONE, order, "twin"))
            await _asking(database, 2)
            await _pass(second, OTHER, order, "another key")
            order.append("first")
        await waiting
        assert order == ["another key", "first", "twin"]

    _run(database, test)


def test_a_twin_in_the_same_process_waits_too(database: str) -> None:
    async def test(first: IdempotencyLock, _: IdempotencyLock) -> None:
        order: list[str] = []
        async with first.hold(ONE):
            waiting = _task(_pass(first, ONE, order, "twin"))
            await _pass(first, OTHER, order, "another key")
            order.append("first")
        await waiting
        assert order == ["another key", "first", "twin"]

    _run(database, test)


def test_one_that_failed_lets_the_next_one_in(database: str) -> None:
    async def test(first: IdempotencyLock, second: IdempotencyLock) -> None:
        with pytest.raises(ZeroDivisionError):
            async with first.hold(ONE):
                raise ZeroDivisionError
        order: list[str] = []
        await _pass(second, ONE, order, "next")
        assert order == ["next"]

    _run(database, test)


def test_nobody_waits_for_ever(database: str) -> None:
    async def test(first: IdempotencyLock, second: IdempotencyLock) -> None:
        async with first.hold(ONE):
            with pytest.raises(StoreUnavailable, match="still running"):
                await _pass(second, ONE, [], "twin")

    _run(database, test, patience=0.05)


def test_a_process_that_is_gone_holds_nobody_up(database: str) -> None:
    async def test(first: IdempotencyLock, second: IdempotencyLock) -> None:
        order: list[str] = []
        async with first.hold(ONE):
            waiting = _task(_pass(second, ONE, order, "twin"))
            await _asking(database, 2)
            await first.close()
            await waiting
        assert order == ["twin"]

    _run(database, test)


def test_without_a_database_nothing_runs(database: str) -> None:
    async def test(_: IdempotencyLock, __: IdempotencyLock) -> None:
        nowhere = IdempotencyLock("host=/nowhere dbname=none")
        with pytest.raises(StoreUnavailable):
            await _pass(nowhere, ONE, [], "nobody")

    _run(database, test)
