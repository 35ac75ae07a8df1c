"""A human's deliberate repeat passes the duplicate guard and no other (design D14)."""

from typing import Any

import pytest

from ledger.domain.policy import Policy
from tests.support.build import (
    OPERATOR,
    at,
    credit,
    customer_hold,
    days,
    digest,
    hold,
    hours,
    intent,
    invoice,
    message,
    minutes,
    notification,
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given


def sent_on_day_three() -> Scenario:
    return given(
        at("2026-12-01"), invoice(), at("2026-12-04T08:00Z"), reminder(stage="day-3"), report()
    )


def again(action: str = "op-1", stage: str = "day-3") -> Any:
    return reminder(stage=stage, by=OPERATOR, override=action)


def test_a_repeat_is_granted_once_per_action() -> None:
    scenario = sent_on_day_three().when(minutes(30), again()).granted_now()
    assert scenario.body["items"][0]["stage"] == "day-3"
    assert scenario.events == ["Customer.MailPermitted"]
    scenario.when(again()).then(status=409, code="already_sent", events=[])
    scenario.when(report(by=OPERATOR)).then(status=200, events=["Customer.MailSettled"])
    scenario.when(again()).then(status=409, code="already_sent", events=[])
    assert (
        scenario.aggregate("invoice", "inv_1").stages[(1, "day-3")].permit_id
        == (scenario.granted[0])
    )


def test_the_repeat_counts_in_the_window_and_the_next_opens_the_breaker() -> None:
    scenario = sent_on_day_three().when(minutes(5), again())
    assert scenario.body["windows"] == {"outreach_24h": {"used": 2, "limit": 2}}
    scenario.when(minutes(5), again("op-2")).then(
        status=429, code="cap_reached", events=["Customer.BreakerOpened"]
    )


def test_a_machine_without_the_action_is_still_a_duplicate() -> None:
    sent_on_day_three().when(minutes(30), again(), reminder(stage="day-3")).then(
        status=409, code="already_sent"
    )


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ([paid(30000)], "nothing_owed"),
        ([hold()], "on_hold"),
        ([customer_hold()], "on_hold"),
        ([paid(100, state="pending")], "payment_in_flight"),
        ([invoice(due="2027-01-01")], "not_past_due"),
        ([invoice(due=None)], "no_due_date"),
    ],
)
def test_every_other_guard_holds_the_repeat_back(facts: list[Any], code: str) -> None:
    scenario = sent_on_day_three().when(minutes(30), *facts)
    scenario.when(again()).then(status=409, code=code, events=[])


def test_an_override_of_a_stage_that_was_never_sent_is_judged_as_any_request() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-03"))
    scenario.when(again()).then(status=409, code="not_reached")
    scenario.when(again(stage="day-14")).then(status=409, code="not_reached")
    scenario.when(at("2026-12-08"), again()).then(status=409, code="stage_superseded")
    scenario.when(again(stage="day-7")).granted_now()
    assert scenario.body["items"][0]["supersedes"] == ["day-3"]


def test_an_override_does_not_pass_a_live_or_unknown_permit() -> None:
    scenario = given(at("2026-12-04"), invoice(), reminder(stage="day-3"))
    scenario.when(again()).then(status=409, code="permit_held")
    scenario.when(report("unknown"), again()).then(status=409, code="outcome_unknown")


def test_an_action_whose_permit_was_freed_may_be_carried_out_again() -> None:
    scenario = sent_on_day_three().when(minutes(30), again())
    scenario.when(report("rejected", by=OPERATOR), again()).granted_now()
    scenario.when(minutes(10), again()).granted_now()
    assert [scenario.permit(f"${n}").state for n in (2, 3, 4)] == ["rejected", "expired", "granted"]


def test_a_floor_holds_a_repeat_back() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-08"), reminder(), report())
    scenario.when(days(1), credit(29000), again(stage="day-7")).then(
        status=409, code="balance_below_stage"
    )


@pytest.mark.parametrize(
    "fact", [paid(100), hold(), invoice(due="2026-12-02"), customer_hold(), paid(30000)]
)
def test_a_fact_since_the_grant_revokes_a_repeat_as_any_other(fact: Any) -> None:
    scenario = sent_on_day_three().when(minutes(30), again())
    scenario.when(fact, redeem(by=OPERATOR)).then(status=409, code="revoked")
    assert scenario.permit().state == "revoked"


@pytest.mark.parametrize("request_", [notification, digest, intent])
def test_each_kind_may_be_repeated_once_per_action(request_: Any) -> None:
    assert callable(request_)
    scenario = given(message()).when(request_(), report())
    scenario.when(request_(by=OPERATOR, override="op-7")).granted_now()
    scenario.when(request_(by=OPERATOR, override="op-7")).then(status=409, code="already_sent")
    scenario.when(report(by=OPERATOR))
    original = scenario.granted[0]
    scenario.when(request_()).then(
        status=409, code=scenario.body.get("code") or self_code(request_)
    )
    assert scenario.body["permit_id"] == original


def self_code(request_: Any) -> str:
    return "duplicate_intent" if request_ is intent else "already_sent"


def test_repeated_replies_fill_the_threads_window_too() -> None:
    scenario = given(message(), policy=Policy(replies_per_customer_hour=9))
    scenario.when(reply(), report())
    for number in range(4):
        scenario.when(reply(by=OPERATOR, override=f"op-{number}")).granted_now()
        scenario.when(report(by=OPERATOR))
    scenario.when(message("<m2@example.com>"))
    scenario.when(reply("<m2@example.com>")).then(
        status=429, code="loop_guard", events=["Thread.LoopGuardTripped"]
    )
    scenario.when(hours(1), reply("<m2@example.com>")).granted_now()


def test_a_repeat_of_one_report_records_the_other_that_is_new() -> None:
    scenario = given(invoice(), payment_failed("evt_1", "pi_1"), report())
    scenario.when(payment_failed("evt_2", "pi_1")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_2", "pi_1", by=OPERATOR, override="op-1")).granted_now()
    scenario.when(report(by=OPERATOR), payment_failed("evt_2")).then(
        status=409,
        code="already_sent",
        events=["Customer.MailSettled", "Invoice.NoticeSettled", "Invoice.NoticeSettled"],
    )


def test_an_action_that_expired_unnoticed_may_be_carried_out_for_somebody_else() -> None:
    scenario = given(notification(by=OPERATOR, override="op-1"), minutes(10))
    scenario.when(notification(customer="cus_2", by=OPERATOR, override="op-1")).granted_now()


@pytest.mark.parametrize(
    "since",
    [
        invoice(status="void"),
        invoice(status="uncollectible"),
        paid(100, state="pending"),
        invoice(customer="cus_2"),
    ],
    ids=["voided", "written off", "a payment in flight", "another owner"],
)
def test_a_repeat_is_taken_back_by_what_takes_back_a_first_reminder(since: Any) -> None:
    """A repeat has no record of its own on the invoice that could say so."""
    first = given(at("2026-12-04T08:00Z"), invoice(), reminder(stage="day-3")).when(minutes(1))
    first.when(since, redeem()).then(status=409, code="revoked")
    repeat = sent_on_day_three().when(minutes(30), again(), minutes(1))
    repeat.when(since, redeem(by=OPERATOR)).then(status=409, code="revoked")
    assert repeat.permit("$2").state == "revoked"
