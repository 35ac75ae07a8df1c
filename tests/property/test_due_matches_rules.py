"""The SQL of the list of what is due says what the rules in Python say, whatever has happened.

Histories are decided by the real engine; its log is folded by the projector's statements, cut into
ranges at random; the list is then compared with the guards, invoice by invoice and customer by
customer, at the very moments at which it turns.
"""

import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection

from ledger.application.commands import ResetBreaker
from ledger.domain.policy import Policy
from ledger.store.migrate import migrate
from tests.support import build
from tests.support.due_lists import RUNNER, connected, follow
from tests.support.dunning_histories import START, histories, play, policies
from tests.support.given import Scenario
from tests.support.postgres import fresh_database

EXAMPLES = 3_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 100


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
    turns=st.integers(1, 3),
    cuts=st.lists(st.integers(1, 60), max_size=4),
    limit=st.integers(1, 3),
)
def test_what_is_due_is_what_the_guards_let_pass(
    connection: AsyncConnection[Any],
    policy: Policy,
    history: list[Any],
    turns: int,
    cuts: list[int],
    limit: int,
) -> None:
    scenario = Scenario(policy, START)
    play(scenario, history)
    for listed in follow(connection, scenario, turns, cuts, limit):
        withheld = [found.withheld[0] for found in listed.values() if found.withheld is not None]
        event(f"{len(listed)} due, {len(withheld)} withheld")
        for code in withheld:
            event(code)


def overdue(invoice_id: str, customer: str = "cus_1", days: int = 4, owes: int = 30_000) -> Any:
    """An invoice that is so many days past due at the start."""
    due = str(START.date() - timedelta(days=days))
    return build.invoice(invoice_id, customer, due=due, owes=owes, total=30_000)


def hours_before(count: int, invoice_id: str | None = None, stage: str | None = None) -> Any:
    """A mail to cus_1 that went out past the ledger, so long before the start."""
    when = str(START - timedelta(hours=count))
    return build.observed_send(when, "cus_1", invoice_id, stage)


ONE_A_DAY = Policy(outreach_per_day=1)
RESET = ResetBreaker("cus_1", "ann", "looked", build.OPERATOR)
FREE_AGAIN = START + timedelta(hours=24)
RARE: dict[str, tuple[Policy, list[Any], dict[str, Any]]] = {
    "a stage superseded by an older send is no reminder": (
        Policy(),
        [overdue("inv_1", days=14), hours_before(170, "inv_1", "day-7")],
        {"cus_1": (None, {"inv_1": "day-14"})},
    ),
    "a balance that just meets the floor": (
        Policy(),
        [overdue("inv_1", days=8, owes=3_000), overdue("inv_2", days=15, owes=7_500)],
        {"cus_1": (None, {"inv_1": "day-7", "inv_2": "day-14"})},
    ),
    "a balance just below the floor": (
        Policy(),
        [overdue("inv_1", days=8, owes=2_999), overdue("inv_2", days=15, owes=7_499)],
        {"cus_1": (None, {"inv_1": "day-3", "inv_2": "day-7"})},
    ),
    "a stage refused too often waits for a human, and the next one does not": (
        Policy(rejections_before_hold=1),
        [overdue("inv_1"), build.reminder("inv_1", by=build.AGENT), ("rejected", 0)],
        {},
    ),
    "a mail revoked at hand-over counts where redeeming is optional": (
        ONE_A_DAY,
        [
            overdue("inv_1"),
            overdue("inv_2"),
            build.reminder("inv_1", by=build.AGENT),
            build.hold(invoice_id="inv_1"),
            ("redeem", 0),
        ],
        {"cus_1": (("cap_reached", FREE_AGAIN), {"inv_2": "day-3"})},
    ),
    "a mail revoked before hand-over does not count where it must be redeemed": (
        ONE_A_DAY,
        [
            overdue("inv_1"),
            overdue("inv_2"),
            build.reminder("inv_1", by=build.POLLER),
            build.hold(invoice_id="inv_1"),
            ("redeem", 0),
        ],
        {"cus_1": (None, {"inv_2": "day-3"})},
    ),
    "a full window frees to the moment": (
        ONE_A_DAY,
        [overdue("inv_1"), overdue("inv_2"), build.reminder("inv_1", by=build.AGENT)],
        {"cus_1": (("cap_reached", FREE_AGAIN), {"inv_2": "day-3"})},
    ),
    "with more mails than places more than one must go": (
        Policy(outreach_per_day=2),
        [overdue("inv_1"), hours_before(9), hours_before(6), hours_before(3), RESET],
        {"cus_1": (("cap_reached", FREE_AGAIN - timedelta(hours=6)), {"inv_1": "day-3"})},
    ),
    "an open breaker comes along with a merge": (
        ONE_A_DAY,
        [
            overdue("inv_1"),
            build.notification("a", customer="cus_2", by=build.AGENT),
            build.notification("b", customer="cus_2", by=build.AGENT),
            build.merged("cus_2", "cus_1"),
        ],
        {"cus_1": (("breaker_open", None), {"inv_1": "day-3"})},
    ),
    "where the policy says so, what ended with its subscription is dunned no more": (
        Policy(remind_after_subscription_end=False),
        [
            overdue("inv_1"),
            overdue("inv_2"),
            overdue("inv_3"),
            build.subscription_told("sub_1", invoices=("inv_1", "inv_2")),
            build.subscription_told("sub_2", invoices=("inv_2",)),
            build.subscription_told("sub_2", ended=False),
        ],
        {"cus_1": (None, {"inv_2": "day-3", "inv_3": "day-3"})},
    ),
    "a subscription that is going to end still bills": (
        Policy(remind_after_subscription_end=False),
        [
            overdue("inv_1"),
            build.subscription_told(
                "sub_1", invoices=("inv_1",), when=str(START + timedelta(minutes=4))
            ),
        ],
        {"cus_1": (None, {"inv_1": "day-3"})},
    ),
    "by default what is owed is dunned after its subscription too": (
        Policy(),
        [overdue("inv_1"), build.subscription_told("sub_1", invoices=("inv_1",))],
        {"cus_1": (None, {"inv_1": "day-3"})},
    ),
    "the end of a subscription comes along with a merge": (
        Policy(remind_after_subscription_end=False),
        [
            overdue("inv_1", "cus_2"),
            overdue("inv_2", "cus_1"),
            build.subscription_told("sub_1", "cus_2", invoices=("inv_1",)),
            build.merged("cus_2", "cus_1"),
        ],
        {"cus_1": (None, {"inv_2": "day-3"})},
    ),
    "what a merged customer owes is owed by the other": (
        Policy(),
        [
            overdue("inv_1", "cus_1"),
            overdue("inv_2", "cus_2"),
            build.merged("cus_1", "cus_2"),
            build.merged("cus_2", "cus_3"),
            overdue("inv_3", "cus_1"),
        ],
        {"cus_3": (None, {"inv_1": "day-3", "inv_2": "day-3", "inv_3": "day-3"})},
    ),
    "whoever is parted owes what is theirs, and a mail to the two as one counts for both": (
        ONE_A_DAY,
        [
            overdue("inv_1", "cus_1"),
            overdue("inv_2", "cus_2"),
            overdue("inv_3", "cus_3"),
            build.merged("cus_1", "cus_2"),
            build.merged("cus_2", "cus_3"),
            build.notification("a", customer="cus_1", by=build.AGENT),
            ("sent", 0),
            build.unmerged("cus_1", "cus_3"),
        ],
        {
            "cus_1": (("cap_reached", FREE_AGAIN), {"inv_1": "day-3"}),
            "cus_3": (("cap_reached", FREE_AGAIN), {"inv_2": "day-3", "inv_3": "day-3"}),
        },
    ),
    "a mail of before the merge is of one alone after the parting": (
        ONE_A_DAY,
        [
            overdue("inv_1", "cus_1"),
            overdue("inv_2", "cus_2"),
            build.notification("a", customer="cus_1", by=build.AGENT),
            build.minutes(1),
            build.merged("cus_1", "cus_2"),
            ("sent", 0),
            build.unmerged("cus_1", "cus_2"),
        ],
        {
            "cus_1": (("cap_reached", FREE_AGAIN + timedelta(minutes=1)), {"inv_1": "day-3"}),
            "cus_2": (None, {"inv_2": "day-3"}),
        },
    ),
    "what a credit covers is not due, and what it does not cover is": (
        Policy(),
        [
            overdue("inv_1", "cus_1"),
            overdue("inv_2", "cus_2"),
            overdue("inv_3", "cus_3"),
            build.customer_credit(30_000, "cus_1"),
            build.customer_credit(29_999, "cus_2"),
            build.customer_credit(30_000, "cus_3", currency="EUR"),
        ],
        {"cus_2": (None, {"inv_2": "day-3"}), "cus_3": (None, {"inv_3": "day-3"})},
    ),
    "a credit that went with a merge comes back": (
        Policy(),
        [
            overdue("inv_1", "cus_1"),
            overdue("inv_2", "cus_2"),
            build.customer_credit(30_000, "cus_1"),
            build.merged("cus_1", "cus_2"),
            build.unmerged("cus_1", "cus_2"),
        ],
        {"cus_2": (None, {"inv_2": "day-3"})},
    ),
}


@pytest.mark.parametrize("name", RARE)
@pytest.mark.parametrize("cuts", [[], [1] * 60], ids=["at one go", "event by event"])
def test_what_seldom_happens_is_listed_as_it_should_be(
    connection: AsyncConnection[Any], name: str, cuts: list[int]
) -> None:
    policy, history, what = RARE[name]
    scenario = Scenario(policy, START)
    play(scenario, history)
    now, *_ = follow(connection, scenario, turns=3, cuts=cuts, limit=1)
    assert {c: (found.withheld, found.stages) for c, found in now.items()} == what
