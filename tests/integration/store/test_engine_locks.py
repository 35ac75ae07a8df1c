"""The writer lock: who waits for it, for how long, and what is answered meanwhile (D3, D4)."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection

from ledger.store.log.timeouts import Timeouts
from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import (
    WAITING_FOR_THE_LOCK,
    all_of,
    ask,
    codes,
    engine_on,
    granted,
    invoice,
    rows,
    until,
)

ROOT = Path(__file__).resolve().parents[3]
HASTY = Timeouts(lock=150)


def test_an_engine_waits_for_the_lock_and_then_sees_what_was_written_meanwhile(
    database: str,
) -> None:
    """The head of the log and the time are those from after the wait (design, traps)."""

    async def scenario() -> None:
        async with engine_on(database) as engine, engine_on(database) as other:
            await other.submit(invoice("inv"))
            await engine.submit(invoice("unrelated"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("SELECT FROM partitions FOR UPDATE")
                first = asyncio.create_task(other.submit(ask("inv")))
                await until(database, WAITING_FOR_THE_LOCK, 1)
                second = asyncio.create_task(engine.submit(ask("inv")))
                await until(database, WAITING_FOR_THE_LOCK, 2)
                assert await granted(database) == []
                cursor = await holder.execute("SELECT clock_timestamp()")
                row = await cursor.fetchone()
                assert row is not None
            answers = [await first, await second]
            assert sorted(codes(answers)) == ["granted", "permit_held"]
            assert await granted(database) == ["inv"]
            decided = await rows(database, "SELECT min(decided_at) FROM decisions")
            assert decided[0][0] > row[0]

    asyncio.run(scenario())
    assert verify(database).ok


def test_where_the_lock_is_not_free_in_time_the_answer_is_503(database: str) -> None:
    """After one lock_timeout for the whole batch, whatever its size, and nothing is granted."""

    async def scenario() -> None:
        async with engine_on(database, timeouts=HASTY) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 50)
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("SELECT FROM partitions FOR UPDATE")
                started = time.monotonic()
                answers = await all_of(engine, lambda n: ask(f"inv-{n}"), 50)
                waited = time.monotonic() - started
            assert codes(answers) == ["unavailable"] * 50
            assert answers[0].headers == (("Retry-After", "1"),)
            assert 0.15 <= waited < 2
            assert engine.counters.reruns == 0
            assert await granted(database) == []
            assert await rows(database, "SELECT count(*) FROM decisions") == [(0,)]
            answers = await all_of(engine, lambda n: ask(f"inv-{n}"), 50)
            assert codes(answers) == ["granted"] * 50

    asyncio.run(scenario())


def test_a_writer_that_falls_silent_gives_the_lock_up(database: str) -> None:
    """A process that stops in the middle of a batch (no crash: a stopped container) is put out
    by its own idle_in_transaction_session_timeout; the next engine goes on."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            silent = await AsyncConnection.connect(
                database, options=Timeouts(idle_in_transaction=400).options, autocommit=True
            )
            await silent.execute("BEGIN")
            await silent.execute("SELECT * FROM begin_batch()")
            asked = asyncio.create_task(engine.submit(ask("inv")))
            await until(database, WAITING_FOR_THE_LOCK, 1)
            assert codes([await asked]) == ["granted"]
            with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
                await silent.execute("COMMIT")
            await silent.close()

    asyncio.run(scenario())


def test_every_writer_has_time_limits_and_durable_commits(database: str) -> None:
    with psycopg.connect(database, options=Timeouts().options) as connection:
        shown = {
            name: connection.execute(f"SHOW {name}".encode()).fetchone()
            for name in (
                "lock_timeout",
                "statement_timeout",
                "idle_in_transaction_session_timeout",
                "synchronous_commit",
            )
        }
    assert shown == {
        "lock_timeout": ("5s",),
        "statement_timeout": ("10s",),
        "idle_in_transaction_session_timeout": ("15s",),
        "synchronous_commit": ("on",),
    }


RACER = """
import asyncio, json, sys
from tests.integration.store.engines import ask, codes, engine_on

async def race():
    async with engine_on(sys.argv[1]) as engine:
        print("ready", flush=True)
        sys.stdin.readline()
        keys = [f"inv-{n}" for n in range(200)]
        answers = await asyncio.gather(*[engine.submit(ask(key)) for key in keys])
        print(json.dumps(codes(answers)), flush=True)

asyncio.run(race())
"""


def test_two_processes_race_for_the_same_sends_and_each_is_granted_once(database: str) -> None:
    async def set_up() -> None:
        async with engine_on(database) as engine:
            await all_of(engine, lambda n: invoice(f"inv-{n}"), 200)

    asyncio.run(set_up())
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    results = [json.loads(racer.communicate("go\n", timeout=60)[0]) for racer in racers]
    for pair in zip(*results, strict=True):
        assert sorted(pair) == ["granted", "permit_held"]
    assert sorted(asyncio.run(granted(database))) == sorted(f"inv-{n}" for n in range(200))
    assert verify(database).ok


def test_two_engines_race_for_the_last_place_in_a_window(database: str) -> None:
    """The customer is the boundary: the cap holds over engines and invoices (design D2)."""

    async def scenario() -> None:
        async with engine_on(database) as one, engine_on(database) as other:
            await all_of(one, lambda n: invoice(f"inv-{n}", "cus"), 20)
            answers = await asyncio.gather(
                *[(one if n % 2 else other).submit(ask(f"inv-{n}")) for n in range(20)]
            )
            assert sorted(set(codes(answers))) == ["breaker_open", "cap_reached", "granted"]
            assert codes(answers).count("granted") == 2
            assert codes(answers).count("cap_reached") == 1
            alerts = await rows(database, "SELECT kind, customer_id FROM alerts")
            assert alerts == [("breaker_opened", "cus")]
            assert len(await granted(database)) == 2

    asyncio.run(scenario())


def test_the_head_is_read_after_the_lock_whatever_isolation_is_the_default(database: str) -> None:
    """Two engines wait for the lock: the second must see what the first has written meanwhile."""

    async def scenario() -> None:
        name = (await rows(database, "SELECT current_database()"))[0][0]
        with psycopg.connect(database, autocommit=True) as admin:
            text = f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'"
            admin.execute(text.encode())
        async with engine_on(database) as one, engine_on(database) as other:
            await one.submit(invoice("inv"))
            await other.submit(ask("nobody's"))
            async with await AsyncConnection.connect(database) as holder:
                await holder.execute("SELECT FROM partitions FOR UPDATE")
                asked = [asyncio.create_task(e.submit(ask("inv"))) for e in (one, other)]
                await until(database, WAITING_FOR_THE_LOCK, 2)
            answers = [await each for each in asked]
            assert sorted(codes(answers)) == ["granted", "permit_held"]
            assert (one.counters.reruns, other.counters.reruns) == (0, 0)

    asyncio.run(scenario())
