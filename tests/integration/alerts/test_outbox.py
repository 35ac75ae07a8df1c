"""The outbox on a real PostgreSQL: what leaves when, who may take it, what is kept of it."""

import asyncio
from collections import Counter
from datetime import timedelta

from psycopg.pq import TransactionStatus

from ledger.store.alerts.outbox import (
    Backoff,
    claim_page,
    list_alerts,
    look,
    mark_delivered,
    settle,
    take_pages,
)
from tests.support.alerts import START, let_real_time_pass, raise_alerts, rows_of, set_test_clock
from tests.support.outbox import (
    CLAIM,
    POLICY,
    Connection,
    connected,
    delivered,
    keys,
    leaving,
    with_connection,
)


def test_the_first_alert_leaves_at_once_and_the_next_ones_wait(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        first = await delivered(connection, await leaving(connection))
        assert (first.reason, first.dedupe_key, keys(first)) == ("alert", "a", ["a"])
        raise_alerts(database, "b", "c")
        assert await leaving(connection) is None
        let_real_time_pass(database, minutes=4, seconds=59)
        assert await leaving(connection) is None
        let_real_time_pass(database, seconds=1)
        summary = await delivered(connection, await leaving(connection))
        assert (summary.reason, summary.dedupe_key) == ("summary", "summary:b")
        assert keys(summary) == ["b", "c"]
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_four_hundred_openings_are_one_page_and_one_summary(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, *(f"opening:{n}" for n in range(399)))
        raise_alerts(database, "loop", kind="loop_guard")
        first = await delivered(connection, await leaving(connection))
        assert keys(first) == ["opening:0"]
        assert await leaving(connection) is None
        let_real_time_pass(database, minutes=5)
        summary = await delivered(connection, await leaving(connection))
        assert summary.kinds == (("breaker_opened", 398), ("loop_guard", 1))
        assert keys(summary) == [f"opening:{n}" for n in range(1, 21)]
        let_real_time_pass(database, minutes=5)
        assert await leaving(connection) is None
        assert (await look(connection)).pending == 0

    with_connection(database, steps)


def test_one_held_alert_leaves_as_itself(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        raise_alerts(database, "b")
        let_real_time_pass(database, minutes=5)
        page = await leaving(connection)
        assert page is not None
        assert (page.reason, page.dedupe_key) == ("alert", "b")

    with_connection(database, steps)


def test_after_a_quiet_time_the_first_of_many_leaves_alone(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        set_test_clock(database, START + timedelta(minutes=6))
        raise_alerts(database, "b", "c", "d")
        assert keys(await delivered(connection, await leaving(connection))) == ["b"]
        assert await leaving(connection) is None
        let_real_time_pass(database, minutes=5)
        assert keys(await leaving(connection)) == ["c", "d"]

    with_connection(database, steps)


def test_the_window_ends_with_the_test_clock_too(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        raise_alerts(database, "b", "c")
        set_test_clock(database, START + timedelta(minutes=4, seconds=59))
        assert await leaving(connection) is None
        set_test_clock(database, START + timedelta(minutes=5))
        assert keys(await leaving(connection)) == ["b", "c"]

    with_connection(database, steps)


def test_a_stopped_test_clock_holds_nothing_back(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        page = await leaving(connection)
        assert page is not None
        await settle(connection, page, "t1: no answer", Backoff(first=8.0))
        assert await leaving(connection) is None
        let_real_time_pass(database, seconds=8)
        await delivered(connection, await leaving(connection))
        raise_alerts(database, "b", "c")
        let_real_time_pass(database, minutes=5)
        assert keys(await delivered(connection, await leaving(connection))) == ["b", "c"]
        let_real_time_pass(database, minutes=30)
        escalation = await leaving(connection)
        assert escalation is not None
        assert escalation.reason == "escalation"
        (row,) = rows_of(database, "SELECT DISTINCT raised_at, delivered_at FROM alerts")
        assert row == (START, START)

    with_connection(database, steps)


def test_while_a_page_has_not_left_the_next_ones_wait_for_it(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        page = await leaving(connection)
        assert page is not None
        await settle(
            connection, page, "t1: no answer", Backoff(first=10 * 86400, longest=10 * 86400)
        )
        raise_alerts(database, "b", "c")
        let_real_time_pass(database, minutes=59)
        assert await leaving(connection) is None
        let_real_time_pass(database, minutes=1)
        # One page that can never be delivered must not silence the others for ever.
        assert keys(await leaving(connection)) == ["b", "c"]

    with_connection(database, steps)


def test_a_claim_that_ran_out_is_taken_over_with_the_same_key(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        first = await leaving(connection)
        assert first is not None
        assert connection.info.transaction_status == TransactionStatus.IDLE
        assert await claim_page(connection, CLAIM) is None
        let_real_time_pass(database, seconds=CLAIM)
        second = await claim_page(connection, CLAIM)
        assert second is not None
        assert (second.page_id, second.dedupe_key) == (first.page_id, "a")
        # The first one's late end of work must not end the second one's claim.
        await settle(connection, first, "t1: no answer")
        assert rows_of(
            database, "SELECT claimed_until > clock_timestamp(), last_error FROM pages"
        ) == [(True, None)]
        await delivered(connection, second)
        let_real_time_pass(database, days=1)
        assert await claim_page(connection, CLAIM) is None

    with_connection(database, steps)


def test_waits_double_up_to_a_bound_and_differ(database: str) -> None:
    backoff = Backoff(first=2.0, longest=600.0)

    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        await take_pages(connection, POLICY)
        cut = []
        for attempt in range(1, 16):
            page = await claim_page(connection, CLAIM)
            assert page is not None
            assert page.attempts == attempt
            await settle(connection, page, "t1: no answer", backoff)
            query = "SELECT extract(epoch FROM next_attempt_at - clock_timestamp()) FROM pages"
            wait = float(rows_of(database, query)[0][0])
            full = min(2.0 * 2 ** (attempt - 1), 600.0)
            assert full / 2 - 1 < wait <= full
            cut.append(wait / full)
            let_real_time_pass(database, seconds=600)
        assert max(cut) - min(cut) > 0.05

    with_connection(database, steps)


def test_pages_that_keep_failing_hold_up_nothing_new(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "d1", "d2", drill=True)
        await take_pages(connection, POLICY)
        for _ in range(2):
            page = await claim_page(connection, CLAIM)
            assert page is not None
            await settle(connection, page, "t1: no answer")
        raise_alerts(database, "a")
        let_real_time_pass(database, minutes=1)
        assert keys(await leaving(connection)) == ["a"]

    with_connection(database, steps)


def test_a_page_has_left_with_its_first_target(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        page = await leaving(connection)
        assert page is not None
        assert page.delivered == frozenset()
        await mark_delivered(connection, page, "t1")
        await mark_delivered(connection, page, "t1")
        await settle(connection, page, "json#2: no answer")
        (alert,) = (await list_alerts(connection, limit=10)).items
        assert (alert.delivered_at, alert.attempts) == (START, 1)
        assert alert.last_error == "json#2: no answer"
        assert (await look(connection)).pending == 1
        let_real_time_pass(database, minutes=1)
        again = await claim_page(connection, CLAIM)
        assert again is not None
        assert again.delivered == {"t1"}
        set_test_clock(database, START + timedelta(minutes=1))
        await delivered(connection, again, "t2")
        (alert,) = (await list_alerts(connection, limit=10)).items
        assert (alert.delivered_at, alert.last_error) == (START, None)

    with_connection(database, steps)


def test_pagers_that_race_take_each_page_once(database: str) -> None:
    async def pager() -> list[str]:
        taken = []
        async with connected(database) as connection:
            for _ in range(20):
                page = await leaving(connection)
                if page is not None:
                    taken.append(page.dedupe_key)
        return taken

    async def run() -> None:
        raise_alerts(database, *(f"a{n}" for n in range(50)))
        raise_alerts(database, *(f"d{n}" for n in range(50)), drill=True)
        taken = await asyncio.gather(*(pager() for _ in range(8)))
        assert sum(bool(mine) for mine in taken) > 1
        expected = Counter(["a0", *(f"d{n}" for n in range(50))])
        assert Counter(key for mine in taken for key in mine) == expected

    asyncio.run(run())
    assert rows_of(database, "SELECT count(*) FROM alerts WHERE page_id IS NULL") == [(49,)]
