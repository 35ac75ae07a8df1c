"""The projector: who waits is served, one bad event stops one read model, and processes share."""

import asyncio

from projections.comparison import differences
from projections.due import Withheld
from projections.models import MODELS
from projections.projector import Projector, Rhythm, Trouble
from tests.support.read_side import BY_HAND, SECONDS, ReadSide, story, until, with_read_side

BAD = """
INSERT INTO events VALUES (0, %s, gen_random_uuid(), 1, 'ledger:Customer.MailRedeemed',
    '{"permit_id": "pat@example.com is not an id"}', '2026-10-20T10:00:00Z', '')
"""
GOOD = """
UPDATE events SET state = '{"permit_id": "6f1c9b0e-5a57-4b52-9d0b-2a6f5c1d7e30"}'
WHERE partition = 0 AND position = %s
"""


def test_a_reader_who_waits_makes_it_work_at_once(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            position = await side.append()
            assert await projector.wait_for(position, SECONDS) == 0
            page = await side.due()
            assert page.as_of == position
            listed = {customer.customer_id: customer for customer in page.items}
            assert {"cus_1", "cus_4"}.isdisjoint(listed)
            assert [i["invoice_id"] for i in listed["cus_0"].invoices] == ["inv_0b"]
            assert [i["invoice_id"] for i in listed["cus_2"].invoices] == ["inv_2a", "inv_2b"]
            assert [i["invoice_id"] for i in listed["cus_5"].invoices] == [
                "inv_4b",
                "inv_5a",
                "inv_5b",
            ]
            assert (listed["cus_3"].withheld, listed["cus_5"].withheld) == (
                Withheld("on_hold", None),
                None,
            )
            assert projector.lag == 0

    with_read_side(database, story(), steps)


def test_a_position_that_has_been_passed_costs_nothing(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            position = await side.append()
            assert await projector.wait_for(position, SECONDS) == 0
            rounds = projector.rounds
            for _ in range(100):
                assert await projector.wait_for(position, SECONDS) == 0
            assert projector.rounds == rounds

    with_read_side(database, story(), steps)


def test_commits_wake_it_once_for_all_of_them(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            assert await projector.wait_for(await side.append(), SECONDS) == 0
            rounds = projector.rounds
            for _ in range(1_000):
                projector.wake()
                await asyncio.sleep(0)
            assert projector.rounds == rounds

    with_read_side(database, story(), steps)


def test_it_goes_by_its_rhythm_when_nobody_waits(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting(Rhythm(interval=0.01, idle=0.01)) as projector:
            position = await side.append()

            async def arrived() -> bool:
                return projector.position == position

            await until(arrived)

    with_read_side(database, story(), steps)


def test_who_waits_too_long_hears_for_how_long_it_has_been_behind(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        await side.append()
        async with side.projecting() as projector:
            async with side.connection.transaction():
                await side.rows("SELECT 1 FROM projection_generations FOR UPDATE")
                assert await projector.wait_for(side.position, 0.2) >= 0.2
                assert projector.lag > 0
            assert await projector.wait_for(side.position, SECONDS) == 0
            assert projector.lag == 0

    with_read_side(database, story(), steps)


def test_a_reader_is_served_by_what_another_process_takes_in(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        position = await side.append()
        async with side.projecting() as mine, side.projecting() as other:
            async with side.connection.transaction():
                await side.rows("SELECT 1 FROM projection_generations FOR UPDATE")
                waiting = asyncio.create_task(mine.wait_for(position, SECONDS))
                await until_looked(mine)
            assert await other.wait_for(position, SECONDS) == 0
            assert await waiting == 0

    async def until_looked(projector: Projector) -> None:
        async def looked() -> bool:
            return projector.rounds > 1

        await until(looked)

    with_read_side(database, story(), steps)


def test_two_processes_share_the_work_in_small_ranges(database: str) -> None:
    async def steps(side: ReadSide) -> list[str]:
        async with side.projecting(most=7) as one, side.projecting(most=11) as other:
            for upto in range(0, len(side.scenario.store.rows), 50):
                await side.append(upto)
                lags = await asyncio.gather(
                    one.wait_for(side.position, SECONDS), other.wait_for(side.position, SECONDS)
                )
                assert set(lags) == {0.0}
            position = await side.append()
            assert await one.wait_for(position, SECONDS) == 0
        assert {row.position for row in (await side.status()).values()} == {position}
        return await differences(side.conninfo, side.policy)

    assert with_read_side(database, story(60), steps) == []


def test_a_lost_connection_is_replaced(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            assert await projector.wait_for(await side.append(40), SECONDS) == 0
            cut = await side.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'send-ledger projector' AND datname = current_database()"
            )
            assert cut == [(True,)]
            assert await projector.wait_for(await side.append(), SECONDS) == 0

    with_read_side(database, story(), steps)


def test_stopping_answers_those_who_wait(database: str) -> None:
    async def steps(side: ReadSide) -> None:
        async with side.projecting() as projector:
            waiting = asyncio.create_task(projector.wait_for(10**9, SECONDS))
            await asyncio.sleep(0)
        async with asyncio.timeout(SECONDS / 4):
            assert await waiting > 0

    with_read_side(database, story(), steps)


def test_who_stays_behind_is_told_of_once(database: str) -> None:
    told: list[Trouble] = []

    async def alert(trouble: Trouble) -> None:
        told.append(trouble)

    async def steps(side: ReadSide) -> None:
        await side.append()
        rhythm = Rhythm(interval=0.01, idle=0.01, alert_after=0.05)
        async with side.projecting(rhythm, alert) as projector:
            for _ in range(2):
                told.clear()
                async with side.connection.transaction():
                    await side.rows(
                        "SELECT 1 FROM projection_generations WHERE name = 'invoices' FOR UPDATE"
                    )
                    await until(lambda: holds(bool(told)))
                    await rounds_of(projector, 5)
                assert [t.name for t in told] == ["invoices"]
                assert told[0].lag >= 0.05
                assert await projector.wait_for(side.position, SECONDS) == 0
                await side.append_one_more()

    async def holds(what: bool) -> bool:
        return what

    async def rounds_of(projector: Projector, count: int) -> None:
        last = projector.rounds + count
        await until(lambda: holds(projector.rounds >= last))

    with_read_side(database, story(), steps)


def test_an_alert_that_cannot_be_raised_is_tried_again(database: str) -> None:
    tries: list[Trouble] = []

    async def alert(trouble: Trouble) -> None:
        tries.append(trouble)
        if len(tries) == 1:
            raise OSError("nobody takes it")

    async def steps(side: ReadSide) -> None:
        await side.append()
        rhythm = Rhythm(interval=0.01, idle=0.01, alert_after=0.01)
        async with side.projecting(rhythm, alert), side.connection.transaction():
            await side.rows("SELECT 1 FROM projection_generations FOR UPDATE")

            async def told_again() -> bool:
                return {t.name for t in tries[1:]} == set(MODELS)

            await until(told_again)

    with_read_side(database, story(), steps)


def test_one_bad_event_stops_one_read_model_at_its_position(database: str) -> None:
    told: list[Trouble] = []

    async def alert(trouble: Trouble) -> None:
        told.append(trouble)

    async def steps(side: ReadSide) -> None:
        before = await side.append(40)
        bad = before + 1
        await side.rows(BAD, bad)
        rhythm = Rhythm(BY_HAND.interval, BY_HAND.idle, retry=0.05)
        async with side.projecting(rhythm, alert) as projector:
            lag = await projector.wait_for(bad, SECONDS)
            assert 0 < lag < SECONDS
            rows = await side.status()
            customers, invoices = rows["customers"], rows["invoices"]
            assert (invoices.position, invoices.state) == (bad, "live")
            assert (customers.position, customers.state, customers.failed_position) == (
                before,
                "failed",
                bad,
            )
            assert customers.error == "InvalidTextRepresentation (22P02)"
            await until_told()
            assert [(t.name, t.position, t.key) for t in told] == [
                ("customers", bad, f"projection_lag:customers:{bad}")
            ]
            assert "pat@example.com" not in repr(told)
            await side.rows("ALTER TABLE events DISABLE TRIGGER USER")
            await side.rows(GOOD, bad)

            async def healed() -> bool:
                return await projector.wait_for(bad, SECONDS) == 0

            await until(healed)
            rows = await side.status()
            assert {(r.state, r.error) for r in rows.values()} == {("live", None)}
            assert len(told) == 1

    async def until_told() -> None:
        async def some() -> bool:
            return bool(told)

        await until(some)

    with_read_side(database, story(), steps)
