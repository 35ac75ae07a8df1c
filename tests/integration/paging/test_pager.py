"""The pager against real receivers: once where all goes well, at least once where it does not."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from api.paging.pager import Cadence, DrillResult, Pager, PagingError
from ledger.domain.policy import Policy
from ledger.store.alerts.outbox import Backoff, acknowledge
from tests.support.alerts import START, let_real_time_pass, raise_alerts, rows_of, set_test_clock
from tests.support.logs import everything_logged
from tests.support.pager_process import paging
from tests.support.receivers import free_port, mailbox, text_of, webhook

SECONDS = 20.0
QUICK = Cadence(
    poll=0.02, timeout=5.0, claim=30.0, drill=10.0, backoff=Backoff(first=0.05, longest=0.2)
)
DELIVERED = "SELECT count(*) FROM alerts WHERE delivered_at IS NULL"
OPEN = "SELECT count(*) FROM pages WHERE done_at IS NULL"


@asynccontextmanager
async def running(
    conninfo: str, urls: Sequence[str], cadence: Cadence = QUICK
) -> AsyncIterator[Pager]:
    """A pager at work for the length of the block."""
    pager = Pager(conninfo, urls, Policy(), cadence)
    task = asyncio.create_task(pager.run())
    try:
        yield pager
    finally:
        await pager.stop()
        await task


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true; fail when it takes too long."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def nothing_open(conninfo: str) -> Callable[[], bool]:
    """Whether every alert is delivered to everybody."""
    return lambda: rows_of(conninfo, DELIVERED) == rows_of(conninfo, OPEN) == [(0,)]


def run(steps: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test's steps."""
    asyncio.run(steps())


def test_an_alert_reaches_each_target_once(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook, mailbox() as box:
            async with running(database, [hook.url, box.url]) as pager:
                raise_alerts(database, "breaker_opened:cus_1:5")
                pager.wake()
                await until(nothing_open(database))
                # A second alert, held and then delivered, proves that the first was not repeated.
                raise_alerts(database, "breaker_opened:cus_1:9")
                let_real_time_pass(database, minutes=5)
                await until(nothing_open(database))
            assert hook.keys == ["breaker_opened:cus_1:5", "breaker_opened:cus_1:9"]
            assert [mail["Ledger-Dedupe-Key"] for mail in box.mails] == hook.keys
            assert hook.bodies[0]["title"] == "breaker_opened: customer cus_1"
            assert text_of(box.mails[0]).strip() == hook.bodies[0]["message"]
            assert "dedupe key: breaker_opened:cus_1:5" in hook.bodies[0]["message"]
            assert (pager.counters.sent, pager.counters.failed) == (4, 0)

    run(steps)


def test_a_refusal_is_tried_again_with_the_same_key(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook, mailbox() as box:
            hook.statuses = [500, 503]
            box.refusals = 1
            raise_alerts(database, "a")
            async with running(database, [hook.url, box.url]) as pager:
                await until(nothing_open(database))
            assert hook.keys == ["a", "a", "a"]
            assert hook.bodies[0] == hook.bodies[2]
            assert len(box.mails) == 1
            assert (pager.counters.sent, pager.counters.failed) == (2, 3)

    run(steps)


def test_a_receiver_that_was_down_gets_it_when_it_is_up(database: str) -> None:
    async def steps() -> None:
        port = free_port()
        raise_alerts(database, "a")
        async with running(database, [f"json://127.0.0.1:{port}/hook"]) as pager:
            await until(lambda: pager.counters.failed >= 3)
            assert rows_of(database, DELIVERED) == [(1,)]
            await until(lambda: pager.counters.pending == 1)
            with webhook(port) as hook:
                await until(nothing_open(database))
                assert hook.keys == ["a"]
            await until(lambda: pager.counters.pending == 0)

    run(steps)


def test_a_dead_target_makes_the_others_repeat_nothing(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook:
            dead = f"json://bob:hunter2@127.0.0.1:{free_port()}/hook"
            async with running(database, [hook.url, dead]) as pager:
                raise_alerts(database, "a")
                await until(lambda: pager.counters.failed >= 5)
                assert hook.keys == ["a"]
            columns = "delivered_at IS NOT NULL, last_error"
            query = f"SELECT {columns} FROM alerts JOIN pages USING (page_id)"
            ((delivered, error),) = rows_of(database, query)
            assert delivered
            assert error == "json#2: A Connection error occurred sending JSON notification to ***."
            # Without the dead one in the settings its pages are done.
            async with running(database, [hook.url]):
                await until(nothing_open(database))
            assert hook.keys == ["a"]

    run(steps)


def test_a_crash_between_delivery_and_mark_delivers_again(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook:
            hook.answering.clear()
            raise_alerts(database, "breaker_opened:cus_1:5")
            with paging(database, [hook.url], claim=1.0):
                await until(lambda: len(hook.bodies) == 1)
            # The pager is dead now; the receiver has the message, and nobody wrote it down.
            hook.answering.set()
            assert rows_of(database, "SELECT count(*) FROM page_deliveries") == [(0,)]
            async with running(database, [hook.url]):
                await until(nothing_open(database))
            assert hook.keys == ["breaker_opened:cus_1:5"] * 2
            assert hook.bodies[0] == hook.bodies[1]

    run(steps)


def test_processes_that_race_deliver_each_page_once(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook, ExitStack() as pagers:
            for _ in range(2):
                pagers.enter_context(paging(database, [hook.url], claim=60.0))
            raise_alerts(database, "a", "b")
            raise_alerts(database, *(f"d{n}" for n in range(40)), drill=True)
            await until(lambda: rows_of(database, OPEN) == [(0,)] and len(hook.bodies) >= 41)
            assert Counter(hook.keys) == Counter(["a", *(f"d{n}" for n in range(40))])
            assert rows_of(database, "SELECT DISTINCT attempts FROM pages") == [(1,)]

    run(steps)


def test_four_hundred_openings_are_one_page_and_one_summary(database: str) -> None:
    async def steps() -> None:
        set_test_clock(database, START)
        with webhook() as hook:
            async with running(database, [hook.url]) as pager:
                raise_alerts(database, *(f"opening:{n}" for n in range(400)))
                await until(lambda: rows_of(database, DELIVERED) == [(399,)])
                await until(lambda: pager.counters.pending == 399)
                set_test_clock(database, START + timedelta(minutes=5))
                await until(nothing_open(database))
            assert hook.keys == ["opening:0", "summary:opening:1"]
            assert hook.bodies[1]["title"] == "399 more alerts: 399 breaker_opened"
            assert "opening:10\n- and 389 more" in hook.bodies[1]["message"]

    run(steps)


def test_what_nobody_acknowledges_escalates_once(database: str) -> None:
    async def steps() -> None:
        set_test_clock(database, START)
        with webhook() as hook:
            async with running(database, [hook.url]):
                raise_alerts(database, "a")
                await until(nothing_open(database))
                set_test_clock(database, START + timedelta(minutes=6))
                raise_alerts(database, "b")
                await until(nothing_open(database))
                (id_of_b,) = rows_of(database, "SELECT alert_id FROM alerts WHERE dedupe_key = 'b'")
                async with await psycopg.AsyncConnection.connect(database) as connection:
                    assert await acknowledge(connection, id_of_b[0], "ada")
                set_test_clock(database, START + timedelta(minutes=40))
                await until(lambda: len(hook.bodies) == 3)
                set_test_clock(database, START + timedelta(days=2))
                raise_alerts(database, "c")
                await until(nothing_open(database))
            assert hook.keys == ["a", "b", "a", "c"]
            assert hook.bodies[2]["title"].startswith("ESCALATION, not acknowledged: ")
            reasons = [body["reason"] for body in hook.bodies]
            assert reasons == ["alert", "alert", "escalation", "alert"]

    run(steps)


def test_an_escalation_is_called_off_by_an_acknowledgement(database: str) -> None:
    async def steps() -> None:
        set_test_clock(database, START)
        port = free_port()
        with webhook(port) as hook:
            async with running(database, [hook.url]):
                raise_alerts(database, "a")
                await until(nothing_open(database))
        async with running(database, [f"json://127.0.0.1:{port}/hook"]) as pager:
            set_test_clock(database, START + timedelta(minutes=30))
            await until(lambda: pager.counters.failed >= 2)
            async with await psycopg.AsyncConnection.connect(database) as connection:
                await acknowledge(connection, rows_of(database, "TABLE alerts")[0][1], "ada")
            await until(nothing_open(database))
        assert rows_of(database, "SELECT escalated_at FROM alerts") == [(None,)]

    run(steps)


def test_a_drill_reaches_every_target_at_once(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook, mailbox() as box:
            pager = Pager(database, [hook.url, box.url], Policy(), QUICK)
            raise_alerts(database, "breaker_opened:probe_1:3", customer_id="probe_1", drill=True)
            results = await pager.deliver_drill("probe_1")
            await pager.stop()
            assert results == [DrillResult("json#1", True, ""), DrillResult("mailto#2", True, "")]
            assert hook.bodies[0]["title"] == "DRILL: breaker_opened: customer probe_1"
            assert hook.bodies[0]["type"] == "warning"
            assert box.mails[0]["Subject"] == hook.bodies[0]["title"]
            assert nothing_open(database)()

    run(steps)


def test_a_drill_says_which_target_did_not_have_it(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook:
            dead = f"json://127.0.0.1:{free_port()}/hook"
            pager = Pager(database, [dead, hook.url], Policy(), QUICK)
            raise_alerts(database, "d", customer_id="probe_1", drill=True)
            results = await pager.deliver_drill("probe_1")
            with pytest.raises(PagingError, match="no drill alert for customer probe_2"):
                await pager.deliver_drill("probe_2")
            await pager.stop()
        assert [(result.target, result.ok) for result in results] == [
            ("json#1", False),
            ("json#2", True),
        ]
        assert "Connection error" in results[0].detail

    run(steps)


def test_a_drill_that_another_pager_delivers_is_waited_for(database: str) -> None:
    async def steps() -> None:
        with webhook() as hook:
            hook.answering.clear()
            async with running(database, [hook.url]):
                raise_alerts(database, "d", customer_id="probe_1", drill=True)
                await until(lambda: len(hook.bodies) == 1)
                other = Pager(database, [hook.url], Policy(), QUICK)
                drill = asyncio.create_task(other.deliver_drill("probe_1"))
                hook.answering.set()
                assert await drill == [DrillResult("json#1", True, "")]
                await other.stop()
            assert hook.keys == ["d"]

    run(steps)


def test_a_silent_receiver_blocks_nobody(database: str) -> None:
    async def steps() -> None:
        with webhook() as silent, webhook() as hook:
            silent.answering.clear()
            cadence = Cadence(poll=0.02, timeout=0.3, backoff=Backoff(first=0.05, longest=0.1))
            async with running(database, [silent.url, hook.url], cadence) as pager:
                raise_alerts(database, "a")
                # This loop turns while the receiver keeps its answer back, so it is not blocked.
                await until(lambda: len(silent.bodies) >= 1 and len(hook.bodies) == 1)
                await until(lambda: pager.counters.failed >= 1)
                silent.answering.set()
                await until(nothing_open(database))
            assert hook.keys == ["a"]
            assert set(silent.keys) == {"a"}

    run(steps)


def test_stopping_waits_for_no_silent_receiver(database: str) -> None:
    async def steps() -> None:
        cadence = Cadence(poll=0.02, farewell=0.1, claim=60.0)
        with webhook() as silent:
            silent.answering.clear()
            async with running(database, [silent.url], cadence) as pager:
                raise_alerts(database, "a")
                await until(lambda: len(silent.bodies) == 1)
                async with asyncio.timeout(2):
                    await pager.stop()
        query = "SELECT claimed_until > clock_timestamp(), done_at FROM pages"
        assert rows_of(database, query) == [(True, None)]

    run(steps)


def test_a_lost_connection_is_made_anew(database: str) -> None:
    ours = "application_name = 'send-ledger pager' AND datname = current_database()"

    async def steps() -> None:
        with webhook() as hook, everything_logged() as log:
            async with running(database, [hook.url]):
                raise_alerts(database, "a")
                await until(nothing_open(database))
                cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {ours}"
                assert rows_of(database, cut) == [(True,)]
                raise_alerts(database, "d", drill=True)
                await until(nothing_open(database))
            assert hook.keys == ["a", "d"]
            assert "paging failed and goes on: " in log.getvalue()

    run(steps)


def test_without_targets_alerts_stay_listed_and_nothing_is_asked(database: str) -> None:
    async def steps() -> None:
        raise_alerts(database, "a")
        async with running("host=/nowhere", []) as pager:
            pager.wake()
            assert await pager.deliver_drill("probe_1") == []
            assert pager.targets == []
        assert rows_of(database, DELIVERED) == [(1,)]
        assert rows_of(database, "SELECT count(*) FROM pages") == [(0,)]
        with webhook() as hook:
            async with running(database, [hook.url]):
                await until(nothing_open(database))
            assert hook.keys == ["a"]

    run(steps)


def test_a_bad_url_is_refused_at_once_without_being_shown(database: str) -> None:
    with pytest.raises(PagingError) as caught:
        Pager(database, ["json://127.0.0.1/hook", "nosuch://bob:hunter2@example.com"], Policy())
    assert "URL 2 (nosuch#2)" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_logs_and_errors_hold_no_address_and_no_credentials(
    database: str, capfd: pytest.CaptureFixture[str]
) -> None:
    secrets = ["bob", "hunter2", "T0K3N", "oncall@example.com", "ledger@example.com"]

    async def steps() -> None:
        with webhook() as hook, mailbox() as box, everything_logged() as log:
            hook.statuses = [401, *[500] * 1000]
            box.refusals = 1000
            url = f"json://bob:hunter2@127.0.0.1:{hook.port}/T0K3N?-q=T0K3N"
            async with running(database, [url, box.url]) as pager:
                raise_alerts(database, "a")
                await until(lambda: pager.counters.failed >= 4)
                ((error,),) = rows_of(database, "SELECT last_error FROM pages")
                hook.statuses.clear()
                box.refusals = 0
                await until(nothing_open(database))
            assert error.startswith("json#1: ")
            assert "mailto#2: " in error
            written = capfd.readouterr()
            assert "page 1 did not reach json#1 (try 1)" in log.getvalue()
            assert "page 1 (alert) reached mailto#2" in log.getvalue()
            for text in (log.getvalue(), error, written.out + written.err):
                assert [secret for secret in secrets if secret in text] == []

    run(steps)
