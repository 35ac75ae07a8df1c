"""The outbox on a real PostgreSQL: what leaves when, who may take it, and what is kept of it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from ledger.domain.policy import Policy
from ledger.store.outbox import (
    Backoff,
    Page,
    acknowledge,
    claim_drill,
    claim_page,
    drill_state,
    find_alert,
    list_alerts,
    look,
    mark_delivered,
    settle,
    take_pages,
)
from tests.support.alerts import START, let_real_time_pass, raise_alerts, rows_of, set_test_clock

POLICY = Policy()
CLAIM = 60.0
Connection = AsyncConnection[Any]


@asynccontextmanager
async def connected(conninfo: str) -> AsyncIterator[Connection]:
    """A connection as the pager has it."""
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        yield connection


def with_connection(conninfo: str, steps: Callable[[Connection], Awaitable[None]]) -> None:
    """Run a test's steps on one connection."""

    async def run() -> None:
        async with connected(conninfo) as connection:
            await steps(connection)

    asyncio.run(run())


async def leaving(connection: Connection) -> Page | None:
    """The next page that leaves now, claimed; None where everything waits."""
    await take_pages(connection, POLICY)
    return await claim_page(connection, CLAIM)


async def delivered(connection: Connection, page: Page | None, *targets: str) -> Page:
    """The page, after these targets had it and it is done."""
    assert page is not None
    for target in targets or ("t1",):
        await mark_delivered(connection, page, target)
    await settle(connection, page, None)
    return page


def keys(page: Page | None) -> list[str]:
    """The dedupe keys of a page's alerts."""
    assert page is not None
    return [alert.dedupe_key for alert in page.alerts]


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


def test_what_nobody_acknowledges_is_paged_once_more(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        set_test_clock(database, START + timedelta(minutes=29, seconds=59))
        assert await leaving(connection) is None
        late = START + timedelta(minutes=30)
        set_test_clock(database, late)
        page = await delivered(connection, await leaving(connection))
        assert (page.reason, page.dedupe_key, keys(page)) == ("escalation", "a", ["a"])
        (alert,) = (await list_alerts(connection, limit=10)).items
        assert (alert.delivered_at, alert.escalated_at) == (START, late)
        set_test_clock(database, START + timedelta(days=9))
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_late_alerts_of_several_pages_escalate_in_one_message(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        raise_alerts(database, "b", "c")
        let_real_time_pass(database, minutes=5)
        await delivered(connection, await leaving(connection))
        (second,) = rows_of(database, "SELECT alert_id FROM alerts WHERE dedupe_key = 'b'")
        assert await acknowledge(connection, second[0], "ada")
        set_test_clock(database, START + timedelta(minutes=30))
        page = await delivered(connection, await leaving(connection))
        assert (page.reason, page.dedupe_key, keys(page)) == ("escalation", "a", ["a", "c"])
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_what_is_acknowledged_stays_quiet(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        (alert,) = (await list_alerts(connection, limit=10)).items
        assert await acknowledge(connection, alert.alert_id, "ada")
        set_test_clock(database, START + timedelta(hours=1))
        assert await acknowledge(connection, alert.alert_id, "grace")
        assert not await acknowledge(connection, alert.alert_id + 1, "grace")
        found = await find_alert(connection, alert.alert_id)
        assert found is not None
        assert (found.acked_at, found.acked_by) == (START, "ada")
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_an_acknowledgement_reaches_an_escalation_that_is_about_to_leave(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        set_test_clock(database, START + timedelta(hours=1))
        await take_pages(connection, POLICY)
        (alert,) = (await list_alerts(connection, limit=10)).items
        await acknowledge(connection, alert.alert_id, "ada")
        page = await claim_page(connection, CLAIM)
        assert page is not None
        assert (page.reason, page.alerts, page.kinds) == ("escalation", (), ())

    with_connection(database, steps)


def test_an_alert_that_never_arrived_does_not_escalate(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        page = await leaving(connection)
        assert page is not None
        await settle(connection, page, "t1: no answer", Backoff(first=1e6, longest=1e6))
        set_test_clock(database, START + timedelta(days=1))
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_drills_wait_for_nothing_and_nothing_waits_for_them(database: str) -> None:
    async def steps(connection: Connection) -> None:
        set_test_clock(database, START)
        raise_alerts(database, "a")
        await delivered(connection, await leaving(connection))
        raise_alerts(database, "d1", "d2", drill=True, customer_id="probe_1")
        pages = [await delivered(connection, await leaving(connection)) for _ in range(2)]
        assert [(page.reason, page.dedupe_key) for page in pages] == [
            ("drill", "d1"),
            ("drill", "d2"),
        ]
        set_test_clock(database, START + timedelta(minutes=5))
        raise_alerts(database, "b")
        assert keys(await delivered(connection, await leaving(connection))) == ["b"]
        for alert in (await list_alerts(connection, limit=10, unacked=True)).items:
            await acknowledge(connection, alert.alert_id, "ada")
        set_test_clock(database, START + timedelta(days=1))
        assert await leaving(connection) is None

    with_connection(database, steps)


def test_a_drill_is_given_up_after_a_few_tries(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "d", drill=True, customer_id="probe_1")
        await take_pages(connection, POLICY)
        for _ in range(3):
            page = await claim_drill(connection, "probe_1", CLAIM)
            assert page is not None
            assert await claim_drill(connection, "probe_1", CLAIM) is None
            await mark_delivered(connection, page, "t1")
            await settle(connection, page, "json#2: no answer", Backoff(drill_attempts=3))
        assert await claim_drill(connection, "probe_1", CLAIM) is None
        state = await drill_state(connection, "probe_1")
        assert (state.drills, state.done, state.delivered) == (1, 1, frozenset({"t1"}))
        assert state.last_error == "json#2: no answer"
        assert (await drill_state(connection, "probe_2")).drills == 0

    with_connection(database, steps)


@pytest.mark.parametrize("pagers", [8])
def test_pagers_that_race_take_each_page_once(database: str, pagers: int) -> None:
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
        taken = await asyncio.gather(*(pager() for _ in range(pagers)))
        assert sum(bool(mine) for mine in taken) > 1
        expected = Counter(["a0", *(f"d{n}" for n in range(50))])
        assert Counter(key for mine in taken for key in mine) == expected

    asyncio.run(run())
    assert rows_of(database, "SELECT count(*) FROM alerts WHERE page_id IS NULL") == [(49,)]


def test_alerts_are_listed_newest_first_in_pages(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a", "b")
        raise_alerts(database, "c", kind="loop_guard", customer_id=None)
        raise_alerts(database, "d", drill=True)
        first = await list_alerts(connection, limit=3)
        assert [alert.dedupe_key for alert in first.items] == ["d", "c", "b"]
        rest = await list_alerts(connection, limit=3, cursor=first.next)
        assert ([alert.dedupe_key for alert in rest.items], rest.next) == (["a"], None)
        exact = await list_alerts(connection, limit=4)
        assert (len(exact.items), exact.next) == (4, None)
        loops = await list_alerts(connection, limit=9, kind="loop_guard")
        assert [(a.kind, a.customer_id, a.drill) for a in loops.items] == [
            ("loop_guard", None, False)
        ]
        oldest = rest.items[0]
        await acknowledge(connection, oldest.alert_id, "ada")
        waiting = await list_alerts(connection, limit=9, unacked=True)
        assert [alert.dedupe_key for alert in waiting.items] == ["c", "b"]
        assert (oldest.delivered_at, oldest.attempts, oldest.last_error) == (None, 0, None)

    with_connection(database, steps)


def test_the_same_happening_is_one_alert(database: str) -> None:
    async def steps(connection: Connection) -> None:
        raise_alerts(database, "a")
        raise_alerts(database, "a")
        assert len((await list_alerts(connection, limit=9)).items) == 1

    with_connection(database, steps)
