"""A mail that was sent after all takes its send key back from whoever holds it by then (D6)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ledger.application.commands import CallPause, DeclareIncident, RequestPermit
from ledger.domain.policy import Policy
from tests.support.build import (
    AGENT,
    OPERATOR,
    at,
    days,
    delivery,
    digest,
    fact,
    follow_up,
    intent,
    invoice,
    lapse,
    message,
    minutes,
    notification,
    observed_send,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.build import apology as ask_for_apology
from tests.support.given import Scenario, given

WIDE = Policy(outreach_per_day=9)
DUPLICATE: dict[str, tuple[Callable[..., RequestPermit], str]] = {
    "reminder": (reminder, "already_sent"),
    "payment_failed": (partial(payment_failed, "evt_1", "pi_1"), "already_sent"),
    "reply": (reply, "already_replied"),
    "follow_up": (follow_up, "already_sent"),
    "message": (intent, "duplicate_intent"),
    "notification": (notification, "already_sent"),
    "digest": (digest, "already_sent"),
    "apology": (ask_for_apology, "apology_already_sent"),
}


def ledger() -> Scenario:
    """One of everything that can be asked for, on 8 December."""
    return given(
        at("2026-12-08T08:00Z"),
        invoice(),
        message(),
        DeclareIncident(
            "F1", "flood", "a loop", at("2026-12-01"), at("2026-12-02"), "ann", OPERATOR
        ),
        CallPause("sender:nobody", "the source of the flood", "ann", OPERATOR),
        policy=WIDE,
    )


@pytest.mark.parametrize("kind", DUPLICATE)
def test_the_first_try_was_sent_after_all_and_the_second_is_revoked(kind: str) -> None:
    ask, code = DUPLICATE[kind]
    scenario = ledger().when(ask(), minutes(10), ask(by=AGENT))
    assert scenario.permit("$1").state == "expired"
    scenario.when(report(permit="$1")).then(status=200, alerts=["sent_after_expiry"])
    assert scenario.permit("$2").state == "revoked"
    scenario.when(redeem("$2", by=AGENT)).then(status=409, code="revoked")
    scenario.when(ask()).then(status=409, code=code)
    assert scenario.body["permit_id"] == scenario.granted[0]
    scenario.when(minutes(30), ask()).then(status=409, code=code)


@pytest.mark.parametrize("kind", DUPLICATE)
def test_a_second_try_that_was_sent_as_well_stays_on_record(kind: str) -> None:
    ask, code = DUPLICATE[kind]
    scenario = ledger().when(ask(), minutes(10), ask(), report(), report(permit="$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "sent"]
    scenario.when(ask()).then(status=409, code=code)
    assert scenario.body["permit_id"] == scenario.granted[1]


@pytest.mark.parametrize("kind", DUPLICATE)
def test_an_unknown_second_try_holds_nothing_any_more(kind: str) -> None:
    ask, code = DUPLICATE[kind]
    scenario = ledger().when(ask(), minutes(10), ask(), report("unknown"), report(permit="$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "unknown"]
    scenario.when(ask()).then(status=409, code=code)
    scenario.when(report("rejected", permit="$2"), ask()).then(status=409, code=code)


def test_a_send_past_the_ledger_takes_the_stage() -> None:
    scenario = ledger().when(reminder())
    scenario.when(observed_send("2026-12-08T07:59Z", invoice_id="inv_1", stage="day-7"))
    assert scenario.permit().state == "revoked"
    scenario.when(reminder()).then(status=409, code="already_sent")


def test_a_send_past_the_ledger_takes_the_intent() -> None:
    scenario = ledger().when(intent())
    scenario.when(observed_send("2026-12-08T07:59Z", thread="thr_1", intent="refund_notice"))
    assert scenario.permit().state == "revoked"
    scenario.when(intent()).then(status=409, code="duplicate_intent")


def two_invoices(**how: Any) -> Scenario:
    return given(
        at("2026-12-08T08:00Z"), invoice("a"), invoice("b"), reminder("a", "b", **how), policy=WIDE
    )


def test_a_mail_not_yet_handed_over_is_revoked_with_all_its_invoices() -> None:
    scenario = two_invoices().when(
        observed_send("2026-12-08T08:00Z", invoice_id="a", stage="day-7")
    )
    assert scenario.permit().state == "revoked"
    scenario.when(reminder("a", "b")).granted_now()
    assert [item["invoice_id"] for item in scenario.body["items"]] == ["b"]
    assert scenario.body["withheld"][0]["code"] == "already_sent"


@pytest.mark.parametrize(("by", "redeemed"), [("poller", True), ("agent", False)])
def test_a_mail_that_may_be_out_keeps_its_other_invoices_until_somebody_knows(
    by: str, redeemed: bool
) -> None:
    scenario = two_invoices(by=AGENT) if by == "agent" else two_invoices()
    if redeemed:
        scenario.when(redeem())
    scenario.when(observed_send("2026-12-08T08:00Z", invoice_id="a", stage="day-7"))
    assert scenario.permit().state == "unknown"
    scenario.when(reminder("b")).then(status=409, code="outcome_unknown")
    scenario.when(reminder("a")).then(status=409, code="already_sent")


def test_a_stage_that_was_only_superseded_takes_back_what_is_not_out_yet() -> None:
    scenario = ledger().when(reminder())
    early = observed_send("2026-12-04T08:00Z", invoice_id="inv_1", stage="day-3")
    scenario.when(early)
    assert scenario.permit().state == "revoked"
    scenario.when(reminder()).granted_now()
    assert scenario.body["items"][0]["supersedes"] == []
    redeemed = ledger().when(reminder(), redeem(), early)
    assert redeemed.permit().state == "redeemed"
    redeemed.when(report(), reminder()).then(status=409, code="already_sent")


def test_a_delivery_of_an_expired_permit_is_as_good_as_a_report() -> None:
    scenario = ledger().when(intent(), minutes(10), intent())
    scenario.when(fact(delivery(permit=scenario.granted[0]))).then(
        result="applied", alerts=["sent_after_expiry"]
    )
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "revoked"]


def test_an_expiry_that_nobody_noticed_is_one_all_the_same() -> None:
    scenario = ledger().when(intent(), minutes(10))
    scenario.when(fact(delivery(permit=scenario.granted[0]))).then(
        result="applied", alerts=["sent_after_expiry"]
    )


def test_an_apology_is_not_asked_for_twice_after_a_late_report() -> None:
    scenario = ledger().when(ask_for_apology(), minutes(10), lapse(), report())
    scenario.then(status=200, alerts=["sent_after_expiry"])
    scenario.when(ask_for_apology()).then(status=409, code="apology_already_sent")
    scenario.when(days(31), ask_for_apology()).then(status=409, code="apology_already_sent")
    other = DeclareIncident("F2", "flood", "?", at("2026-12-01"), at("2026-12-02"), "ann", OPERATOR)
    scenario = ledger().when(ask_for_apology(), minutes(10), lapse(), report(), other)
    scenario.when(ask_for_apology(incident="F2")).then(status=409, code="apology_already_sent")


def test_an_unknown_apology_that_was_refused_after_days_may_be_made_again() -> None:
    scenario = ledger().when(ask_for_apology(), redeem(), report("unknown"), days(3))
    for number in range(9):
        scenario.when(notification(f"e{number}"), minutes(10), lapse())
    scenario.when(report("rejected", permit="$1"), ask_for_apology()).granted_now()


def test_a_reply_taken_back_that_may_be_out_counts_in_its_thread() -> None:
    scenario = given(message(), reply(), minutes(10), reply(), redeem(), report(permit="$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "revoked"]
    for number in range(3):
        name = f"<next-{number}@x>"
        scenario.when(message(name), reply(name)).granted_now()
    scenario.when(message("<last@x>"), reply("<last@x>")).then(status=429, code="loop_guard")


def test_a_reply_taken_back_in_time_does_not_count() -> None:
    scenario = given(message(), reply(), minutes(10), reply(), report(permit="$1"))
    for number in range(4):
        name = f"<next-{number}@x>"
        scenario.when(message(name), reply(name)).granted_now()


def test_a_second_try_whose_time_was_up_has_expired_whoever_looks_first() -> None:
    scenario = given(message(), reply(), minutes(10), reply(), minutes(10), report(permit="$1"))
    assert scenario.permit("$2").state == "expired"
    scenario.when(redeem("$2")).then(status=409, code="expired")
