"""A poller tells the same of an invoice again and again: the log need not grow by it (D10)."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from ledger.application.commands import NoteFeedSilence
from ledger.application.facts.confirmations import as_confirmed
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.views import invoice_view
from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from tests.support.build import at, days, fact, hours, invoice, minutes, paid, reminder
from tests.support.given import Scenario, given

NOON = "2026-12-08T12:00:00Z"
SEEN = "Invoice.Observed"
SAME = replace(invoice(), observed_at=None)
"""The invoice of the other tests, without a time: as of its arrival."""


def told(policy: Policy | None = None) -> Scenario:
    """An open invoice of 300.00, told at noon."""
    return given(at(NOON), SAME, policy=policy or Policy())


def seen(scenario: Scenario) -> datetime:
    """When the log's snapshot is of."""
    found: datetime = scenario.aggregate("invoice", "inv_1").snapshot.observed_at
    return found


def owed(scenario: Scenario) -> int:
    """What is owed on it, in minor units."""
    found: int = scenario.aggregate("invoice", "inv_1").standing.balance
    return found


def test_what_changes_nothing_writes_no_event_and_is_applied() -> None:
    scenario = told()
    for _ in range(10):
        scenario.when(minutes(1), SAME).then(result="applied", events=[])


def test_the_log_has_it_a_few_times_a_day_and_often_enough_for_the_policy() -> None:
    for policy, apart in ((Policy(), 6), (Policy(snapshot_max_age=2), 2)):
        scenario = told(policy)
        scenario.when(hours(apart) - minutes(1), SAME).then(events=[])
        scenario.when(minutes(1), SAME).then(events=[SEEN])
        assert seen(scenario) == at(NOON) + hours(apart)


def test_an_invoice_that_is_told_of_all_the_time_is_never_stale() -> None:
    scenario = told(Policy(snapshot_max_age=1))
    for _ in range(60):
        scenario.when(minutes(50), SAME)
    scenario.when(reminder()).granted_now()


def test_and_is_stale_when_it_is_told_of_no_more() -> None:
    scenario = told(Policy(snapshot_max_age=1)).when(minutes(30), SAME, hours(24), reminder())
    scenario.then(status=409, code="facts_stale")
    scenario.when(SAME).then(events=[SEEN])
    scenario.when(reminder()).granted_now()


@pytest.mark.parametrize(
    "other",
    [
        {"amount_remaining": 20000},
        {"status": Status.PAID},
        {"due_on": at("2026-12-02").date()},
        {"customer_id": "cus_2"},
        {"total": 40000},
    ],
    ids=lambda other: next(iter(other)),
)
def test_any_change_is_an_event(other: dict[str, Any]) -> None:
    scenario = told().when(minutes(1), SAME, minutes(1), replace(SAME, **other))
    assert SEEN in scenario.events
    assert seen(scenario) == at(NOON) + minutes(2)


def test_money_that_only_the_new_snapshot_knows_of_is_an_event() -> None:
    scenario = told().when(minutes(1), paid(10000))
    assert owed(scenario) == 20000
    scenario.when(minutes(1), SAME).then(events=[SEEN])
    assert owed(scenario) == 30000


@pytest.mark.parametrize("between", ["1", "2"])
def test_money_from_before_the_last_telling_is_in_it_though_the_log_has_no_event(
    between: str,
) -> None:
    scenario = told().when(minutes(3), SAME)
    late = fact(paid(10000), f"2026-12-08T12:0{between}:00Z", id="late")
    scenario.when(minutes(1), late).then(result="applied", events=[SEEN, "Invoice.MoneyMoved"])
    assert owed(scenario) == 30000
    assert seen(scenario) == at(NOON) + minutes(3)
    scenario.when(fact(paid(10000, id="p2"), "2026-12-08T12:03:30Z", id="later"))
    assert owed(scenario) == 20000


def test_a_snapshot_from_before_the_last_telling_is_stale() -> None:
    scenario = told().when(minutes(3), SAME)
    late = replace(SAME, amount_remaining=0, observed_at=at("2026-12-08T12:02:00Z"))
    scenario.when(minutes(1), late).then(result="stale", events=[])
    scenario.when(replace(late, observed_at=at("2026-12-08T12:03:30Z"))).then(events=[SEEN])
    assert owed(scenario) == 0


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_telling_of_an_older_version_dates_no_newer_one(confirmed: bool) -> None:
    def version(number: int, time: str, amount: int) -> InvoiceObserved:
        seen_at = at(f"2026-12-08T{time}:00Z")
        return replace(SAME, version=number, observed_at=seen_at, amount_remaining=amount)

    scenario = given(at(NOON), version(5, "11:00", 30000), minutes(31))
    if confirmed:
        scenario.when(version(5, "12:30", 30000)).then(result="applied", events=[])
    scenario.when(minutes(1), version(6, "12:20", 20000)).then(result="applied", events=[SEEN])
    scenario.when(minutes(1), fact(paid(20000), "2026-12-08T12:25:00Z", id="since"))
    assert owed(scenario) == 0
    scenario.when(hours(1), version(6, "12:40", 10000)).then(events=[SEEN])
    scenario.when(version(6, "12:50", 10000)).then(result="applied", events=[])
    scenario.when(fact(paid(5000, id="p2"), "2026-12-08T12:45:00Z", id="before the last telling"))
    assert (owed(scenario), seen(scenario)) == (10000, at("2026-12-08T12:50:00Z"))


def test_dated_tellings_are_the_same() -> None:
    first = replace(SAME, observed_at=at("2026-12-08T11:00:00Z"))
    scenario = given(at(NOON), first)
    scenario.when(replace(first, observed_at=at("2026-12-08T11:30:00Z")))
    scenario.then(result="applied", events=[])
    scenario.when(replace(first, observed_at=at("2026-12-08T11:10:00Z"))).then(result="stale")


def test_that_nothing_is_in_flight_any_more_is_an_event_while_something_was() -> None:
    pending = paid(10000, state="pending")
    scenario = given(at(NOON), SAME, minutes(1), pending, minutes(1), SAME)
    settled = replace(SAME, nothing_in_flight=True)
    scenario.when(minutes(1), settled).then(events=[SEEN])
    scenario.when(minutes(1), settled).then(events=[])


def test_that_nothing_was_in_flight_is_kept_though_it_is_told_of_the_same_instant() -> None:
    scenario = told().when(replace(SAME, nothing_in_flight=True)).then(result="applied")
    scenario.when(minutes(1), fact(paid(10000, state="pending"), "2026-12-08T11:59:00Z", id="late"))
    scenario.when(reminder()).granted_now()


def test_a_source_that_was_silent_is_heard_and_its_invoice_is_fresh() -> None:
    erp = fact(SAME, source="erp")
    scenario = given(at(NOON), erp, minutes(10))
    scenario.when(days(8), NoteFeedSilence("erp", at(NOON)), fact(SAME, source="erp"))
    assert SEEN in scenario.events
    assert scenario.aggregate("invoice", "inv_1").snapshot.source == "erp"


@pytest.mark.parametrize(("silent", "status"), [("erp", 201), ("billing", 409)])
def test_of_two_sources_the_one_that_told_it_last_may_not_be_silent(
    silent: str, status: int
) -> None:
    scenario = given(at(NOON), fact(SAME, source="erp"), policy=Policy(snapshot_max_age=3))
    scenario.when(minutes(10), fact(SAME, source="billing")).then(events=[SEEN])
    scenario.when(minutes(10), NoteFeedSilence(silent, at(NOON) - days(30)), reminder())
    scenario.then(status=status, code=None if status == 201 else "facts_stale")


def test_what_rides_with_a_denied_ask_is_the_same() -> None:
    scenario = told().when(reminder(), minutes(1))
    for _ in range(3):
        scenario.when(minutes(1), reminder(facts=(SAME,))).then(code="permit_held", events=[])


def test_it_is_shown_as_of_the_last_telling() -> None:
    scenario = told().when(minutes(3), SAME)
    found = scenario.aggregate("invoice", "inv_1")
    told_at = scenario.store.names[("confirmed", "inv_1")]
    latest = as_confirmed(found.snapshot, told_at)
    shown = invoice_view(found, scenario.store.now, scenario.policy, latest)
    assert shown["observed_at"] == at(NOON) + minutes(3)
