"""A transaction that was begun before its command came: used by it, or given back unused."""

import asyncio

from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from ledger.application.engine import Engine
from ledger.domain.policy import Policy
from ledger.store.log.timeouts import Timeouts
from ledger.store.log.writer import PostgresWriter
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    IDENTITY,
    WAITING_FOR_THE_LOCK,
    WRITER,
    ask,
    codes,
    engine_on,
    granted,
    invoice,
    rows,
    until,
)
from tests.support.postgres import superuser

AT_REST = f"""
    SELECT count(*) = 0 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = '{WRITER}' AND state <> 'idle'
"""
"""Has no writer a transaction, nor waits for one?"""


def test_what_was_begun_for_a_command_that_never_comes_is_given_back(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            batches = engine.counters.batches
            engine.expect()
            await until(database, AT_REST)
            async with await AsyncConnection.connect(database) as other:
                await other.execute("SELECT FROM partitions FOR UPDATE NOWAIT")
            assert engine.counters.batches == batches
            assert codes([await engine.submit(ask("inv"))]) == ["granted"]

    asyncio.run(scenario())
    assert verify(database).ok


def test_who_expects_a_command_stands_in_the_queue_for_the_lock_already(database: str) -> None:
    """And decides at a time from after the wait."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("SELECT FROM partitions FOR UPDATE")
                engine.expect()
                await until(database, WAITING_FOR_THE_LOCK, 1)
                asked = asyncio.create_task(engine.submit(ask("inv")))
                await asyncio.sleep(0)
                cursor = await holder.execute("SELECT clock_timestamp()")
                row = await cursor.fetchone()
                assert row is not None
            assert codes([await asked]) == ["granted"]
            decided = await rows(database, "SELECT decided_at FROM decisions")
            assert len(decided) == 1
            assert decided[0][0] > row[0]

    asyncio.run(scenario())


def test_a_command_that_comes_after_a_vain_wait_for_the_lock_is_decided(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database, timeouts=Timeouts(lock=100)) as engine:
            await engine.submit(invoice("inv"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("SELECT FROM partitions FOR UPDATE")
                engine.expect()
                await until(database, WAITING_FOR_THE_LOCK, 1)
                await until(database, AT_REST)
            assert codes([await engine.submit(ask("inv"))]) == ["granted"]
            assert await granted(database) == ["inv"]

    asyncio.run(scenario())


def test_a_connection_that_was_lost_while_nothing_was_done_is_replaced(database: str) -> None:
    """Whether the loss shows when something is expected, or when the command comes."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            for name in ("first", "second"):
                await engine.submit(invoice(name))
                async with await AsyncConnection.connect(database, autocommit=True) as other:
                    await other.execute(
                        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND application_name = %s",
                        [WRITER],
                    )
                if name == "first":
                    engine.expect()
                    await asyncio.sleep(0)
                assert codes([await engine.submit(ask(name))]) == ["granted"]
            assert sorted(await granted(database)) == ["first", "second"]

    asyncio.run(scenario())
    assert verify(database).ok


def test_an_engine_that_stops_gives_back_what_was_begun(database: str) -> None:
    """By itself, while its connection is still open."""

    async def scenario() -> None:
        writer = PostgresWriter(database)
        engine = Engine(writer, Policy(), IDENTITY)
        await engine.start()
        await engine.submit(invoice("inv"))
        engine.expect()
        await engine.stop()
        async with await AsyncConnection.connect(database) as other:
            await other.execute("SELECT FROM partitions FOR UPDATE NOWAIT")
        assert await rows(database, AT_REST) == [(True,)]
        await writer.close()

    asyncio.run(scenario())


def restore(database: str, position: int) -> None:
    """As an older copy would be: all after the position is gone, and so is every connection."""
    with superuser(database, str(conninfo_to_dict(database)["dbname"])) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM events WHERE position > %s", [position])
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            [WRITER],
        )


def test_a_restored_database_is_noticed_though_the_command_never_came(database: str) -> None:
    """Another process noted the loss and wrote on, past all that this one has seen."""

    async def scenario() -> None:
        async with engine_on(database) as engine, engine_on(database) as other:
            await engine.submit(invoice("inv"))
            kept = engine.position
            await engine.submit(invoice("lost"))
            await other.submit(invoice("seen"))
            await engine.submit(ask("nobody's"))
            restore(database, kept)
            for number in range(20):
                await other.submit(invoice(f"new-{number}"))
            assert other.position > engine.position
            engine.expect()
            await until(database, AT_REST)
            assert codes([await engine.submit(ask("inv"))]) == ["recovery_mode"]
            assert codes([await engine.submit(ask("lost"))]) == ["unknown_invoice"]

    asyncio.run(scenario())


def test_an_engine_outlives_whatever_was_begun_in_vain(database: str) -> None:
    """The database refuses to begin at all for a while."""

    async def renamed(name: str, to: str) -> None:
        async with await AsyncConnection.connect(database, autocommit=True) as connection:
            await connection.execute(f"ALTER FUNCTION {name} RENAME TO {to}".encode())

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            await renamed("begin_batch", "begun_batch")
            engine.expect()
            # The writer itself gives it up: PostgreSQL would end it only after 15 seconds.
            await until(database, AT_REST, seconds=8)
            assert codes([await engine.submit(ask("inv"))]) == ["unavailable"]
            await until(database, AT_REST, seconds=8)
            await renamed("begun_batch", "begin_batch")
            async with asyncio.timeout(20):
                assert codes([await engine.submit(ask("inv"))]) == ["granted"]

    asyncio.run(scenario())
