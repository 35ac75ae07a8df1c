"""Several prepared statements in one round trip: answers, failures, lost connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg import AsyncConnection

from ledger.store.log.exchange import Exchange

TEXTS = {
    b"begin": b"BEGIN",
    b"echo": b"SELECT $1::text",
    b"divide": b"SELECT 1 / $1::integer",
    b"note": b"INSERT INTO notes VALUES ($1::integer)",
    b"length": b"SELECT length($1::text)",
    b"end": b"SELECT pg_terminate_backend(pg_backend_pid())",
    b"commit": b"COMMIT",
}


@asynccontextmanager
async def exchange_on(database: str) -> AsyncIterator[Exchange]:
    async with await AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute("CREATE TEMP TABLE notes (note integer PRIMARY KEY)")
        yield Exchange(connection, TEXTS)


def run(database: str, steps: Callable[[Exchange], Awaitable[None]]) -> None:
    async def scenario() -> None:
        async with exchange_on(database) as exchange:
            await steps(exchange)

    asyncio.run(scenario())


async def noted(exchange: Exchange) -> list[int]:
    found = await exchange.connection.execute("SELECT note FROM notes ORDER BY note")
    return [row[0] for row in await found.fetchall()]


def test_every_statement_is_answered_in_order_also_the_second_time(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        for text in (b"one", b"two"):
            exchange.send((b"begin", ()), (b"echo", (text,)), (b"echo", (None,)), (b"commit", ()))
            assert exchange.under_way
            answers = await exchange.answers()
            assert not exchange.under_way
            assert [answer.command_status for answer in answers] == [
                b"BEGIN",
                b"SELECT 1",
                b"SELECT 1",
                b"COMMIT",
            ]
            assert [answers[n].get_value(0, 0) for n in (1, 2)] == [text, None]

    run(database, steps)


def test_what_comes_after_a_failure_is_not_executed(database: str) -> None:
    """In the first exchange too, after which the statements are known all the same."""

    async def steps(exchange: Exchange) -> None:
        exchange.send((b"note", (b"1",)), (b"divide", (b"0",)), (b"note", (b"2",)))
        with pytest.raises(psycopg.errors.DivisionByZero):
            await exchange.answers()
        assert await noted(exchange) == []
        exchange.send((b"note", (b"3",)))
        assert len(await exchange.answers()) == 1
        exchange.send((b"note", (b"3",)), (b"note", (b"4",)))
        with pytest.raises(psycopg.errors.UniqueViolation, match="notes_pkey"):
            await exchange.answers()
        assert await noted(exchange) == [3]

    run(database, steps)


def test_a_failed_transaction_does_not_commit(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        exchange.send((b"begin", ()), (b"note", (b"1",)), (b"divide", (b"0",)))
        with pytest.raises(psycopg.errors.DivisionByZero):
            await exchange.answers()
        exchange.send((b"commit", ()))
        (ended,) = await exchange.answers()
        assert ended.command_status == b"ROLLBACK"
        assert await noted(exchange) == []

    run(database, steps)


def test_a_second_exchange_waits_for_the_first(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        exchange.send((b"echo", (b"first",)))
        with pytest.raises(psycopg.InternalError, match="already under way"):
            exchange.send((b"echo", (b"second",)))
        (answer,) = await exchange.answers()
        assert answer.get_value(0, 0) == b"first"

    run(database, steps)


def test_more_than_the_socket_takes_at_once_arrives(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        large = b"x" * 20_000_000
        exchange.send((b"length", (large,)))
        await exchange.sent()
        (answer,) = await exchange.answers()
        assert answer.get_value(0, 0) == b"20000000"
        exchange.send((b"length", (large,)), (b"echo", (large,)))
        first, second = await exchange.answers()
        assert first.get_value(0, 0) == b"20000000"
        assert second.get_value(0, 0) == large

    run(database, steps)


def test_a_connection_that_ends_is_an_error_and_not_a_wait(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        exchange.send((b"echo", (b"before",)), (b"end", ()), (b"echo", (b"after",)))
        async with asyncio.timeout(20):
            with pytest.raises(psycopg.OperationalError):
                await exchange.answers()
        assert exchange.connection.closed

    run(database, steps)


def test_a_connection_that_had_ended_before_is_an_error_too(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        backend = exchange.connection.info.backend_pid
        async with await AsyncConnection.connect(database, autocommit=True) as other:
            await other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])

        async def too_late() -> None:
            exchange.send((b"echo", (b"late",)))
            await exchange.answers()

        async with asyncio.timeout(20):
            with pytest.raises(psycopg.OperationalError):
                await too_late()

    run(database, steps)


def test_a_statement_that_is_gone_counts_as_a_lost_connection(database: str) -> None:
    async def steps(exchange: Exchange) -> None:
        exchange.send((b"echo", (b"here",)))
        await exchange.answers()
        await exchange.connection.execute("DEALLOCATE ALL")
        exchange.send((b"echo", (b"gone",)))
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            await exchange.answers()

    run(database, steps)


def test_a_statement_that_cannot_be_prepared_counts_as_a_lost_connection(database: str) -> None:
    """Those before it are known to the connection, and could not be prepared a second time."""

    async def scenario() -> None:
        async with await AsyncConnection.connect(database, autocommit=True) as connection:
            texts = {b"good": b"SELECT 1", b"bad": b"SELECT nothing"}
            for _ in range(2):
                exchange = Exchange(connection, texts)
                exchange.send((b"good", ()))
                with pytest.raises(psycopg.OperationalError):
                    await exchange.answers()

    asyncio.run(scenario())
