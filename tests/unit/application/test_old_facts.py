"""Reminders on old facts: granted with a page, or denied where the policy says so (ADR 11)."""

from typing import Any

import pytest

from ledger.application.commands import NoteFeedSilence
from ledger.domain.policy import Policy
from tests.support.build import (
    OPERATOR,
    apology,
    at,
    customer,
    days,
    fact,
    hold,
    hours,
    invoice,
    minutes,
    notification,
    paid,
    payment_failed,
    reminder,
    report,
    unhold,
)
from tests.support.given import given

STRICT = Policy(snapshot_max_age=30, feed_silent_hours=1)
NOW = at("2026-12-04T10:00:00+00:00")


def told(source: str = "erp", **fields: Any) -> Any:
    """A snapshot that a source told."""
    return fact(invoice(**fields), source=source)


def silence(source: str = "erp") -> NoteFeedSilence:
    """The source was last heard at the start."""
    return NoteFeedSilence(source, NOW)


def test_a_reminder_is_granted_on_a_snapshot_until_it_is_as_old_as_the_policy_allows() -> None:
    scenario = given(NOW, invoice(), invoice("inv_2"), days(30) - minutes(1), policy=STRICT)
    scenario.when(reminder()).granted_now()
    scenario.when(minutes(1), reminder("inv_2"))
    scenario.then(status=409, code="facts_stale", body={"retryable": True}, events=[])
    assert "2026-12-04T10:00:00Z, over 30 days ago" in scenario.body["detail"]


@pytest.mark.parametrize("policy", [Policy(), STRICT])
def test_a_snapshot_that_rides_along_makes_the_facts_fresh(policy: Policy) -> None:
    scenario = given(NOW, invoice(), days(78), policy=policy)
    scenario.when(reminder(facts=(invoice(),))).granted_now()
    scenario.then(alerts=[], body={"code": None})
    assert scenario.body["items"][0]["observed_at"] == "2027-02-20T10:00:00Z"


def test_by_default_an_old_snapshot_pages_once_a_day_and_source() -> None:
    scenario = given(NOW, told(), told(invoice_id="inv_2"), told("shop", invoice_id="inv_3"))
    scenario.when(days(29), days(1) - minutes(1), reminder()).then(status=201, alerts=[])
    scenario.when(minutes(1), reminder("inv_2")).then(status=201, alerts=["old_facts"])
    scenario.when(hours(24), reminder("inv_3")).then(status=201, alerts=["old_facts"])
    keys = [alert.dedupe_key for alert in scenario.store.alerts.values()]
    assert keys == ["old_facts:erp:2027-01-03", "old_facts:shop:2027-01-04"]


def test_one_permit_for_several_old_invoices_of_a_source_pages_once() -> None:
    scenario = given(NOW, told(), told(invoice_id="inv_2"), days(40))
    scenario.when(reminder("inv_1", "inv_2")).then(status=201, alerts=["old_facts"])


def test_old_invoices_are_withheld_and_the_others_go() -> None:
    scenario = given(NOW, invoice(), days(31), invoice("inv_2"), policy=STRICT)
    scenario.when(reminder("inv_1", "inv_2")).granted_now()
    assert [item["invoice_id"] for item in scenario.body["items"]] == ["inv_2"]
    assert [item["code"] for item in scenario.body["withheld"]] == ["facts_stale"]


def test_the_silence_of_its_source_denies_a_reminder_and_one_word_of_it_does_not() -> None:
    scenario = given(NOW, told(), told("shop", invoice_id="inv_2"), hours(2), policy=STRICT)
    scenario.when(silence()).then(events=["Control.FeedFellSilent"], alerts=["feed_silent"])
    scenario.when(reminder()).then(status=409, code="facts_stale", body={"retryable": True})
    assert "was last heard at 2026-12-04T10:00:00Z" in scenario.body["detail"]
    scenario.when(reminder("inv_2")).granted_now()
    scenario.when(fact(customer("cus_9"), source="erp"))
    assert "Control.FeedHeardAgain" in scenario.events
    assert "Control.FeedHeardAgain" in scenario.events
    scenario.when(reminder()).granted_now()


def test_the_latest_snapshot_says_whose_silence_counts() -> None:
    scenario = given(NOW, told(), minutes(1), told("shop", owes=29_000), hours(2), policy=STRICT)
    scenario.when(silence(), reminder()).granted_now()
    scenario.when(report(), days(4), silence("shop"), reminder())
    scenario.then(status=409, code="facts_stale")


def test_silence_denies_nothing_where_the_policy_does_not_ask_for_it() -> None:
    given(NOW, told(), days(7), silence()).when(reminder()).granted_now()


def test_a_snapshot_that_rode_along_is_of_no_source_and_bound_by_its_age_alone() -> None:
    scenario = given(NOW, told(), hours(2), silence(), policy=STRICT)
    scenario.when(reminder(facts=(invoice(owes=29_000),))).granted_now()
    scenario.when(report(), days(4), reminder()).granted_now()
    scenario.when(report(), days(26), reminder()).then(status=409, code="facts_stale")


def test_other_mail_does_not_depend_on_the_age_of_facts() -> None:
    scenario = given(NOW, told(), days(78), silence(), policy=STRICT)
    scenario.when(payment_failed()).granted_now()
    scenario.when(notification()).granted_now()
    scenario.when(apology()).then(code="unknown_incident")


@pytest.mark.parametrize(
    ("steps", "code"),
    [([hold()], "facts_stale"), ([paid(30_000)], "nothing_owed"), ([unhold()], "facts_stale")],
)
def test_old_facts_come_after_money_and_the_ladder_and_before_holds(
    steps: list[Any], code: str
) -> None:
    scenario = given(NOW, told(), *steps, days(78), policy=STRICT)
    scenario.when(reminder()).then(status=409, code=code)


def test_a_duplicate_is_a_duplicate_however_old_the_facts_are() -> None:
    scenario = given(NOW, told(), reminder(), report(), days(78), policy=STRICT)
    scenario.when(reminder(stage="day-3")).then(status=409, code="already_sent")
    again = reminder(stage="day-3", by=OPERATOR, override="act_1")
    scenario.when(again).then(status=409, code="facts_stale")
