"""The store fails in the middle of a batch: the right answer in the end, or 503 (D4)."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from ledger.application import batch
from ledger.application.commands import Command
from ledger.application.decide import decide
from ledger.application.effects import Outcome
from ledger.application.world import World
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.timeouts import Timeouts
from ledger.store.looking_back.audit import verify
from ledger.store.migrate import migrate
from tests.integration.store.engines import (
    WAITING_FOR_THE_LOCK,
    WRITER,
    all_of,
    ask,
    body,
    codes,
    engine_on,
    granted,
    invoice,
    rows,
    until,
)
from tests.support.postgres import Kind, binaries_of

END_WRITERS = f"""
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = '{WRITER}'
"""

FAILING = """
    DROP TRIGGER IF EXISTS failing ON permits;
    CREATE SEQUENCE IF NOT EXISTS tries;
    ALTER SEQUENCE tries RESTART;
    CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('tries') <= {times} THEN
            {what};
        END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON permits
        {when} FOR EACH ROW EXECUTE FUNCTION fail();
"""


def inject(database: str, what: str, times: int = 1, when: str = "") -> None:
    """The first inserts into `permits` fail; a sequence counts them over rollbacks."""
    with psycopg.connect(database) as connection:
        connection.execute(FAILING.format(what=what, times=times, when=when).encode())


def end_writers(database: str) -> None:
    """Ends every writer's connection, as an administrator or a failover does."""
    with psycopg.connect(database, autocommit=True) as connection:
        ended = connection.execute(END_WRITERS.encode()).fetchall()
    assert ended, "there was no writer to end"
    assert all(gone for (gone,) in ended)


def raising(code: str) -> str:
    return f"RAISE EXCEPTION 'injected' USING ERRCODE = '{code}'"


ERRORS = {
    "serialization failure": "40001",
    "deadlock": "40P01",
    "lock not available": "55P03",
    "query canceled": "57014",
    "disk full": "53100",
    "out of memory": "53200",
    "administrator's shutdown": "57P01",
    "unique violation": "23505",
    "internal error": "XX000",
}


@pytest.mark.parametrize("when", ["", "DEFERRABLE INITIALLY DEFERRED"], ids=["write", "commit"])
def test_an_error_that_passes_changes_no_answer(database: str, when: str) -> None:
    """Raised once while the batch is written, or by the COMMIT itself."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            for times, (error, code) in enumerate(ERRORS.items(), 1):
                ids = [f"{code}-{n}" for n in range(5)]
                await engine.submit_all([invoice(id_) for id_ in ids])
                inject(database, raising(code), when=when)
                answers = await engine.submit_all([*map(ask, ids), ask(ids[2])])
                assert codes(answers) == ["granted"] * 5 + ["permit_held"], error
                assert engine.counters.reruns == times, f"{error} was not raised"
                assert sorted((await granted(database))[-5:]) == ids, error
                logged = await rows(database, "SELECT count(*) FROM decisions")
                assert logged == [(6 * times,)], error

    asyncio.run(scenario())
    assert verify(database).ok


def test_an_error_that_stays_answers_503_and_grants_nothing(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 5)
            inject(database, raising("53100"), times=1000)
            answers = await all_of(engine, lambda n: ask(f"inv-{n}"), 5)
            assert codes(answers) == ["unavailable"] * 5
            assert await granted(database) == []
            with psycopg.connect(database) as connection:
                connection.execute("DROP TRIGGER failing ON permits")
            assert codes(await all_of(engine, lambda n: ask(f"inv-{n}"), 5)) == ["granted"] * 5

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_statement_that_takes_too_long_is_given_up(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database, timeouts=Timeouts(statement=200)) as engine:
            await engine.submit(invoice("inv"))
            inject(database, "PERFORM pg_sleep(30)")
            assert codes([await engine.submit(ask("inv"))]) == ["granted"]
            assert engine.counters.reruns == 1
            assert await granted(database) == ["inv"]

    asyncio.run(scenario())


def test_a_connection_ended_in_the_middle_of_a_batch_changes_no_answer(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some commands were decided and changed what the engine has in mind."""
    ended: list[bool] = []

    def ending(world: World, command: Command) -> Outcome:
        outcome = decide(world, command)
        if not ended and getattr(command, "request", b"").count(b"inv-3"):
            ended.append(True)
            end_writers(database)
        return outcome

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 5)
            monkeypatch.setattr(batch, "decide", ending)
            answers = await engine.submit_all([*(ask(f"inv-{n}") for n in range(5)), ask("inv-0")])
            assert ended == [True]
            assert codes(answers) == ["granted"] * 5 + ["permit_held"]
            assert body(answers[5])["permit_id"] == body(answers[0])["permit_id"]
            assert sorted(await granted(database)) == [f"inv-{n}" for n in range(5)]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_connection_ended_while_idle_or_waiting_is_replaced_unseen(database: str) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("a"), invoice("b")])
            end_writers(database)
            assert codes([await engine.submit(ask("a"))]) == ["granted"]
            with psycopg.connect(database) as holder:
                holder.execute("SELECT FROM partitions FOR UPDATE")
                asked = asyncio.create_task(engine.submit(ask("b")))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                end_writers(database)
                await until(database, WAITING_FOR_THE_LOCK, 1)
            assert codes([await asked]) == ["granted"]
            assert engine.counters.reruns == 0

    asyncio.run(scenario())


def test_a_database_that_only_reads_answers_503_until_it_writes_again(database: str) -> None:
    """As after a failover that left the engine connected to the old primary, now a standby."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            name = (await rows(database, "SELECT current_database()"))[0][0]
            with psycopg.connect(database, autocommit=True) as admin:
                admin.execute(
                    f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode()
                )
                end_writers(database)
                assert codes([await engine.submit(ask("inv"))]) == ["unavailable"]
                admin.execute("SET default_transaction_read_only = off")
                admin.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())
            assert codes([await engine.submit(ask("inv"))]) == ["granted"]
            assert await granted(database) == ["inv"]

    asyncio.run(scenario())


def test_a_restart_of_the_server_in_between(postgres_kind: Kind, tmp_path: Path) -> None:
    server = EmbeddedPostgres(tmp_path / "ledger", binaries=binaries_of(postgres_kind))

    async def scenario(database: str) -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("a"), invoice("b")])
            assert codes([await engine.submit(ask("a"))]) == ["granted"]
            server.stop()
            down = await engine.submit_all([ask("a"), ask("b"), ask("b")])
            assert codes(down) == ["unavailable"] * 3
            assert server.start() == database
            assert codes(await engine.submit_all([ask("a"), ask("b")])) == [
                "permit_held",
                "granted",
            ]
            server.stop()
            server.start()
            assert codes([await engine.submit(ask("b"))]) == ["permit_held"]
            assert await granted(database) == ["a", "b"]

    with server:
        conninfo = server.start()
        migrate(conninfo)
        asyncio.run(scenario(conninfo))
        assert verify(conninfo).ok
