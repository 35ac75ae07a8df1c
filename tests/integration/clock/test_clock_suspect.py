"""A jump of the database's clock stops granting, poisons nothing, and ends by itself or a human."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from ledger.application.caller import SYSTEM
from ledger.application.commands import AcceptClock, CallPause, CallResume, NoteGuardCheck, Redeem
from ledger.application.engine import Engine
from ledger.store.looking_back.audit import verify
from tests.integration.clock.conftest import DatabaseClock
from tests.integration.store.engines import ask, body, codes, engine_on, granted, invoice, rows

DAYS_30 = timedelta(days=30)
MINUTE = timedelta(minutes=1)
ACCEPT = AcceptClock("ann", "looked at the clock", SYSTEM)


async def asked(engine: Engine, *invoice_ids: str) -> list[str]:
    return codes(await engine.submit_all([ask(invoice_id) for invoice_id in invoice_ids]))


async def last_time(database: str) -> datetime:
    found = await rows(database, "SELECT recorded_at FROM events ORDER BY position DESC LIMIT 1")
    at: datetime = found[0][0]
    return at


async def the_permit_of(database: str, invoice_id: str) -> str:
    customer = f"customer of {invoice_id}"
    query = "SELECT permit_id::text FROM permits WHERE customer_id = %s"
    [(permit_id,)] = await rows(database, query, customer)
    name: str = permit_id
    return name


def near(at: datetime, expected: datetime) -> bool:
    return abs(at - expected) < MINUTE


def test_a_jump_forward_stops_granting_until_the_clock_is_back(
    database: str, clock: DatabaseClock
) -> None:
    """Given a ledger that grants, when the clock is 30 days ahead for a while, nothing of it stays:
    facts that came meanwhile have the true time, and day-14 is as far away as before."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice(name) for name in ("before", "in it", "after")])
            assert await asked(engine, "before") == ["granted"]
            clock.wrong_by(DAYS_30)
            answer = await engine.submit(ask("in it"))
            assert (answer.status, body(answer)["code"]) == (503, "clock_suspect")
            assert body(answer)["retryable"] is True
            assert answer.headers == (("Retry-After", "1"),)
            assert "+2592000 s off" in body(answer)["detail"]
            fact = await engine.submit(invoice("told in it"))
            assert fact.status == 200
            assert near(await last_time(database), datetime.now(UTC))
            assert await asked(engine, "in it", "told in it") == ["clock_suspect"] * 2
            clock.wrong_by(timedelta(0))
            day_14 = await engine.submit(ask("after", stage="day-14"))
            assert codes([day_14]) == ["not_reached"]
            assert await asked(engine, "in it", "told in it") == ["granted"] * 2
            assert engine.clock_suspect is None

    asyncio.run(scenario())
    assert verify(database).ok
    alerts = asyncio.run(rows(database, "SELECT kind, dedupe_key FROM alerts"))
    assert [kind for kind, _ in alerts] == ["clock_suspect"]
    assert asyncio.run(granted(database)) == ["before", "in it", "told in it"]


def test_a_jump_within_the_bound_stops_nothing(database: str, clock: DatabaseClock) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit_all([invoice("one"), invoice("two")])
            assert await asked(engine, "one") == ["granted"]
            clock.wrong_by(4 * MINUTE)
            assert await asked(engine, "two") == ["granted"]

    asyncio.run(scenario())
    assert asyncio.run(rows(database, "SELECT count(*) FROM alerts")) == [(0,)]


def test_a_jump_back_stops_granting_until_the_clock_is_back(
    database: str, clock: DatabaseClock
) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            clock.wrong_by(-DAYS_30)
            assert await asked(engine, "inv") == ["clock_suspect"]
            clock.wrong_by(timedelta(0))
            assert await asked(engine, "inv") == ["granted"]

    asyncio.run(scenario())
    assert verify(database).ok


def test_a_human_accepts_the_new_time_for_every_process(
    database: str, clock: DatabaseClock
) -> None:
    """A suspended machine: the clock is right, and no process has counted what passed."""

    async def scenario() -> None:
        async with engine_on(database) as engine, engine_on(database) as other:
            await other.submit(invoice("inv"))
            await other.submit(invoice("two"))
            clock.wrong_by(timedelta(hours=3))
            assert await asked(engine, "inv") == ["clock_suspect"]
            answer = await engine.submit(ACCEPT)
            assert (answer.status, body(answer)["result"]) == (200, "applied")
            now = datetime.fromisoformat(body(answer)["now"])
            assert near(now, datetime.now(UTC) + timedelta(hours=3))
            assert await asked(engine, "inv") == ["granted"]
            assert await asked(other, "two") == ["granted"]
            assert near(await last_time(database), datetime.now(UTC) + timedelta(hours=3))
            clock.wrong_by(DAYS_30)
            assert await asked(other, "inv") == ["clock_suspect"]

    asyncio.run(scenario())


def test_what_is_asked_in_one_batch_with_the_acceptance_is_still_refused(
    database: str, clock: DatabaseClock
) -> None:
    async def scenario() -> None:
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            clock.wrong_by(timedelta(hours=3))
            answers = await engine.submit_all([ask("inv"), ACCEPT, ask("inv")])
            assert [answer.status for answer in answers] == [503, 200, 503]
            assert await asked(engine, "inv") == ["granted"]

    asyncio.run(scenario())


def test_a_process_that_starts_while_the_clock_is_wrong_grants_nothing(
    database: str, clock: DatabaseClock
) -> None:
    """It compares with its own machine: no process was there before the jump."""

    async def scenario() -> None:
        clock.wrong_by(DAYS_30)
        async with engine_on(database) as engine:
            await engine.submit(invoice("inv"))
            assert near(await last_time(database), datetime.now(UTC))
            assert await asked(engine, "inv") == ["clock_suspect"]
            clock.wrong_by(timedelta(0))
            assert await asked(engine, "inv") == ["granted"]

    asyncio.run(scenario())


async def _poisoned(database: str, clock: DatabaseClock) -> None:
    """A ledger whose log ends 30 days from now: somebody had accepted the wrong clock."""
    async with engine_on(database) as engine:
        await engine.submit_all([invoice("inv"), invoice("two"), invoice("three")])
        clock.wrong_by(DAYS_30)
        await engine.submit(CallPause("kind:digest", "a test", "ann", SYSTEM))
        await engine.submit(ACCEPT)
        assert await asked(engine, "inv") == ["granted"]
        await engine.submit(CallPause("sender:x", "a test", "ann", SYSTEM))
    clock.wrong_by(timedelta(0))


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_a_log_that_is_ahead_goes_on_once_a_human_accepts_the_clock(
    database: str, clock: DatabaseClock, restarted: bool
) -> None:
    """Given a log that a wrong clock wrote, the next event after the acceptance has the true time,
    stages are judged by it, a permit of the glitch is no use, and a pause of it can be lifted."""

    async def scenario() -> None:
        async with engine_on(database) as engine:
            if not restarted:
                await engine.submit(invoice("four"))
            await _poisoned(database, clock)
            answer = await engine.submit(ask("two"))
            assert body(answer)["code"] == "clock_suspect"
            assert "ahead of the database's clock" in body(answer)["detail"]
            assert codes([await engine.submit(ACCEPT)]) == ["200"]
            assert near(await last_time(database), datetime.now(UTC))
            assert codes([await engine.submit(ask("three", stage="day-14"))]) == ["not_reached"]
            assert await asked(engine, "two", "inv") == ["granted", "stage_superseded"]
            permit_id = await the_permit_of(database, "inv")
            redeem = Redeem(permit_id, None, SYSTEM, str(uuid4()), b"{}")
            assert codes([await engine.submit(redeem)]) == ["revoked"]
            assert near(await last_time(database), datetime.now(UTC))
            control = await rows(
                database, "SELECT max(originator_version) FROM events WHERE topic LIKE '%Control.%'"
            )
            check = NoteGuardCheck("c", datetime.now(UTC), control[0][0], (), SYSTEM)
            await engine.submit(check)
            lifted: Any = await engine.submit(CallResume("sender:x", "over", "ann", "c", SYSTEM))
            assert body(lifted)["result"] == "applied"

    asyncio.run(scenario())
    assert verify(database).ok
