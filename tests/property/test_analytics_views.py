"""The views for analysts have the figures that an independent pass over the log gives.

Histories are decided by the real engine; the log is folded in ranges cut at random.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from ledger.application.commands import CloseIncident, DeclareIncident
from ledger.domain.policy import Policy
from ledger.store.migrate import migrate
from projections.generations import Generation, apply_range
from projections.models import MODELS
from projections.views import VIEWS
from tests.support import build
from tests.support.analytics_pass import Logged
from tests.support.analytics_rows import Rows
from tests.support.due_lists import RUNNER, connected
from tests.support.dunning_histories import START, histories, play, policies
from tests.support.given import Scenario
from tests.support.log_copy import copy_log
from tests.support.postgres import fresh_database

EXAMPLES = 400 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 25
OF_THE_LOG = sorted(set(VIEWS) - {"feeds", "progress"})
_DECISION = (
    b"INSERT INTO decisions VALUES"
    b" (0, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_PERMIT = b"INSERT INTO permits VALUES (0, %s, %s, %s, %s, %s)"

DECLARED = DeclareIncident(
    "F1", "Twice", "a loop", START, START + timedelta(days=1), "ann", build.OPERATOR
)
CLOSED = CloseIncident("F1", "ann", build.OPERATOR)
names = st.sampled_from(("<a@mail.invalid>", "<b@mail.invalid>", "<c@mail.invalid>"))
threads = st.sampled_from(("thr_1", "thr_2"))
people = st.sampled_from(("cus_1", "cus_2", "cus_3"))
conversations = st.lists(
    st.one_of(
        st.builds(
            build.message,
            names,
            threads,
            st.one_of(st.none(), people),
            st.sampled_from(("inbound", "inbound", "outbound")),
            sender=st.sampled_from(("pat@example.com", None)),
            automatic=st.sampled_from((None, None, "auto-replied")),
            when=st.sampled_from((None, "2026-10-19T08:00:00Z")),
        ),
        st.builds(build.reply, names, threads),
        st.builds(build.follow_up, st.integers(1, 2), threads),
        st.builds(build.intent, st.just("refund_notice"), threads, people),
        st.builds(build.digest, inbox=st.sampled_from(("i", "j")), customer=people),
        st.builds(build.payment_failed, st.sampled_from(("e1", "e2")), invoice_id=st.just("inv_1")),
        st.integers(1, 30).map(build.hours),
        st.tuples(st.sampled_from(("redeem", "sent", "rejected", "unknown")), st.integers(0, 2)),
    ),
    max_size=14,
)


@pytest.fixture(scope="module")
def connection(postgres: str) -> Iterator[AsyncConnection[Any]]:
    """A connection to a database of this module's own; each example rolls back what it does."""
    with fresh_database(postgres) as conninfo:
        migrate(conninfo)
        opened = RUNNER.run(connected(conninfo))
        yield opened
        RUNNER.run(opened.close())


@settings(max_examples=EXAMPLES)
@given(
    policy=policies(),
    history=histories,
    more=conversations,
    cuts=st.lists(st.integers(1, 60), max_size=3),
)
def test_every_view_says_what_the_log_says(
    connection: AsyncConnection[Any],
    policy: Policy,
    history: list[Any],
    more: list[Any],
    cuts: list[int],
) -> None:
    scenario = Scenario(policy, START)
    play(scenario, [*history, DECLARED, *more, CLOSED])
    event(f"{len(scenario.granted)} permits, {len(scenario.store.decisions)} decisions")
    try:
        RUNNER.run(keep(connection, scenario, cuts))
        for name, found in RUNNER.run(views(connection)).items():
            wanted = passed_over(scenario).view(name, scenario.store.decisions)
            assert in_order(found, wanted) == in_order(wanted, wanted), name
    finally:
        RUNNER.run(connection.rollback())


def passed_over(scenario: Scenario) -> Rows:
    """The independent pass over the scenario's log."""
    found = Rows(scenario.policy.time_zone)
    for position, row in enumerate(scenario.store.rows, start=1):
        found.take(
            Logged(position, row.originator_id, row.topic, orjson.loads(row.state), row.recorded_at)
        )
    return found


async def keep(connection: AsyncConnection[Any], scenario: Scenario, cuts: list[int]) -> None:
    """Store the log, decisions and permits, and take the log in by ranges of these sizes."""
    store = scenario.store
    head = await copy_log(connection, store)
    await connection.execute(
        "UPDATE projection_invoices_1.policy SET time_zone = projection_invoices_1.usable_zone(%s)",
        (scenario.policy.time_zone,),
    )
    for row in store.decisions:
        await connection.execute("SELECT ensure_decision_part(%s)", (row.decided_at,))
        fields = [getattr(row, name) for name in type(row).__match_args__]
        fields[-2:] = [text.decode() for text in fields[-2:]]
        await connection.execute(_DECISION, fields)
    for permit in store.all_permits():
        text = store.permits[permit.permit_id].decode()
        values = (permit.permit_id, permit.state, permit.customer_id, permit.send_by, text)
        await connection.execute(_PERMIT, values)
    after, sizes = 0, iter(cuts)
    while after < head:
        upto = min(head, after + next(sizes, head))
        for model in MODELS.values():
            await apply_range(connection, Generation(model, 1), after, upto)
        after = upto


async def views(connection: AsyncConnection[Any]) -> dict[str, list[dict[str, Any]]]:
    """What each view has."""
    found = {}
    async with connection.cursor(row_factory=dict_row) as cursor:
        for name in OF_THE_LOG:
            await cursor.execute(f"SELECT * FROM analytics.{name}".encode())
            found[name] = await cursor.fetchall()
    return found


def in_order(rows: list[dict[str, Any]], like: list[dict[str, Any]]) -> list[str]:
    """The rows as text, in an order of their own, with the columns that the pass works out."""
    columns = sorted(like[0]) if like else []
    return sorted(str({name: row[name] for name in columns}) for row in rows)


@pytest.mark.parametrize("name", OF_THE_LOG)
def test_the_pass_works_out_every_column(connection: AsyncConnection[Any], name: str) -> None:
    """Only what is the policy's to say is compared elsewhere: test_due_matches_rules.py."""
    scenario = Scenario(Policy(), START)
    play(scenario, EVERYTHING)
    try:
        RUNNER.run(keep(connection, scenario, []))
        found = RUNNER.run(views(connection))[name]
    finally:
        RUNNER.run(connection.rollback())
    wanted = passed_over(scenario).view(name, scenario.store.decisions)
    assert in_order(found, wanted) == in_order(wanted, wanted) != []
    assert set(found[0]) - set(wanted[0]) == ({"newly_due_at"} if name == "invoices" else set())


EVERYTHING: list[Any] = [
    build.invoice("inv_1", "cus_1", due="2026-10-12", owes=30_000, total=30_000),
    build.reminder("inv_1"),
    build.reminder("inv_1"),
    ("redeem", 0),
    ("sent", 0),
    build.paid(30_000, "inv_1"),
    build.message(),
    DECLARED,
    # Reported long after its time was up: it counts from then all the same.
    build.notification("late", customer="cus_2"),
    ("redeem", 0),
    build.hours(30),
    ("unknown", 0),
    build.hours(3),
    ("sent", 0),
    build.observed_send("2026-10-19T08:00:00Z", "cus_3", "inv_1", "day-7"),
]
