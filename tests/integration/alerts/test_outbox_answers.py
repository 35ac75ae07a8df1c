"""The outbox after delivery: acknowledgement, escalation, drills, and the list for people."""

from datetime import timedelta

from ledger.store.alerts.outbox import (
    Backoff,
    acknowledge,
    claim_drill,
    claim_page,
    drill_state,
    find_alert,
    list_alerts,
    mark_delivered,
    settle,
    take_pages,
)
from tests.support.alerts import START, let_real_time_pass, raise_alerts, rows_of, set_test_clock
from tests.support.outbox import (
    CLAIM,
    POLICY,
    Connection,
    delivered,
    keys,
    leaving,
    with_connection,
)


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
