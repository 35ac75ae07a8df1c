"""A human takes a false `sent` back; a mail that a provider speaks of did go out (design D6)."""

from typing import Any

import pytest

from ledger.application.commands import CallPause, DeclareIncident
from ledger.domain.permit import State
from tests.support.build import (
    OPERATOR,
    POLLER,
    apology,
    at,
    corrected,
    days,
    delivery,
    digest,
    follow_up,
    intent,
    invoice,
    merged,
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
from tests.support.given import Scenario, given


def sent_on_day_eight() -> Scenario:
    """Day-7 was reported as sent, and superseded day-3."""
    return given(at("2026-12-01"), invoice(), at("2026-12-08T08:00Z"), reminder(), report())


def test_a_correction_frees_the_stage_and_those_that_it_superseded() -> None:
    scenario = sent_on_day_eight()
    stages = scenario.aggregate("invoice", "inv_1").stages
    assert {key[1]: record.state for key, record in stages.items()} == {
        "day-3": "superseded",
        "day-7": "sent",
    }
    scenario.when(minutes(30), corrected()).then(
        status=200,
        events=["Customer.OutcomeCorrected", "Customer.MailSettled", "Invoice.ReminderFreed"],
        alerts=[],
        body={"state": "rejected"},
    )
    assert scenario.aggregate("invoice", "inv_1").stages == {}
    assert scenario.permit().state is State.REJECTED
    event = scenario.event("Customer.OutcomeCorrected")
    assert (event.was, event.by, event.reason) == (State.SENT, "ann", "never left")
    reason = "reported by operator: corrected by ann: never left"
    assert scenario.event("Customer.MailSettled").reason == reason


def test_the_mail_may_be_asked_for_again_with_another_key_at_the_provider() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-08T08:00Z"), reminder())
    first = scenario.body["provider_idempotency_key"]
    scenario.when(report(), corrected(), reminder()).granted_now()
    assert scenario.body["items"][0]["supersedes"] == ["day-3"]
    assert scenario.body["provider_idempotency_key"] != first
    assert scenario.body["windows"] == {"outreach_24h": {"used": 1, "limit": 2}}


@pytest.mark.parametrize(
    "request_", [notification, digest, intent, follow_up, reply, payment_failed]
)
def test_a_correction_frees_the_send_key_of_each_kind(request_: Any) -> None:
    scenario = given(at("2026-12-01"), invoice(), message(), request_(), report())
    scenario.when(request_()).then(status=409, code=code_of(request_))
    scenario.when(minutes(1), corrected("$1"), request_()).granted_now()
    assert scenario.granted[0] != scenario.granted[1]


def code_of(request_: Any) -> str:
    codes = {"intent": "duplicate_intent", "reply": "already_replied"}
    return codes.get(request_.__name__, "already_sent")


def test_a_correction_gives_the_place_in_the_window_back() -> None:
    scenario = given(notification("1"), report(), notification("2"), report())
    scenario.when(corrected("$1"), notification("3")).granted_now()
    scenario.when(notification("4")).then(status=429, code="cap_reached")


def test_a_correction_is_told_once_and_without_one_it_is_settled() -> None:
    scenario = sent_on_day_eight()
    scenario.when(report("rejected")).then(status=409, code="already_settled", events=[])
    scenario.when(corrected()).then(status=200)
    scenario.when(corrected()).then(status=200, events=[], body={"state": "rejected"})


def test_an_old_mail_may_be_corrected_after_it_left_the_windows() -> None:
    scenario = sent_on_day_eight().when(days(10), corrected()).then(status=200)
    scenario.when(reminder(stage="day-14")).granted_now()
    assert scenario.body["items"][0]["supersedes"] == ["day-3", "day-7"]


def test_a_correction_closes_no_breaker_and_brings_no_other_permit_back() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-08T08:00Z"), reminder())
    scenario.when(minutes(11), reminder(), report(permit="$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "revoked"]
    scenario.when(corrected("$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["rejected", "revoked"]
    full = given(*(notification(f"{n}") for n in range(3)), report(permit="$1"), corrected("$1"))
    full.when(notification("9")).then(status=409, code="breaker_open")


@pytest.mark.parametrize("event", ["delivered", "bounced", "complained"])
def test_a_mail_that_a_delivery_event_speaks_of_stays_sent(event: str) -> None:
    scenario = given(notification(), report(id="mail-1"), delivery(event, id="mail-1"))
    scenario.when(corrected()).then(status=409, code="already_settled", events=[])
    assert scenario.body["detail"].endswith(f"the provider reported its mail as {event}")
    early = given(delivery(event, id="mail-1"), notification(), report(id="mail-1"))
    early.when(corrected()).then(status=409, code="already_settled", events=[])


def test_a_delivery_event_after_the_correction_wins_and_pages() -> None:
    scenario = given(notification(), report(id="mail-1"), corrected())
    scenario.when(delivery(id="mail-1")).then(result="applied", alerts=["sent_after_expiry"])
    assert scenario.permit().state is State.SENT
    scenario.when(corrected()).then(status=409, code="already_settled")
    scenario.when(notification()).then(status=409, code="already_sent")


def test_a_correction_of_what_was_never_reported_as_sent_is_an_ordinary_report() -> None:
    scenario = given(notification(), redeem(by=POLLER), report("unknown"))
    scenario.when(corrected()).then(status=200, events=["Customer.MailSettled"])
    assert scenario.permit().state is State.REJECTED
    assert "corrected by ann" in scenario.event("Customer.MailSettled").reason


@pytest.mark.parametrize("request_", [notification, digest, intent, reply, payment_failed])
def test_a_second_override_goes_through_after_the_first_was_sent(request_: Any) -> None:
    scenario = given(at("2026-12-01"), invoice(), message(), request_(), report())
    for action in ("op-1", "op-2", "op-3"):
        scenario.when(days(1), request_(by=OPERATOR, override=action)).granted_now()
        scenario.when(redeem(by=OPERATOR)).then(status=200)
        scenario.when(report(by=OPERATOR)).then(status=200)
        scenario.when(request_(by=OPERATOR, override=action)).then(status=409, code="already_sent")
    assert [scenario.permit(f"${n}").state for n in (1, 2, 3, 4)] == ["sent"] * 4
    scenario.when(days(1), request_()).then(status=409, code=code_of(request_))
    assert scenario.body["permit_id"] == scenario.granted[0]


def test_a_reminder_is_repeated_as_often_as_a_human_says_so() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-04T08:00Z"), reminder(), report())
    keys = set()
    for action in ("op-1", "op-2"):
        again = reminder(stage="day-3", by=OPERATOR, override=action)
        scenario.when(days(1), again).granted_now()
        keys.add(scenario.body["provider_idempotency_key"])
        scenario.when(redeem(by=OPERATOR), report(by=OPERATOR)).then(status=200)
    assert len(keys) == 2
    scenario.when(corrected("$2"))
    assert scenario.permit("$2").state is State.REJECTED
    scenario.when(reminder(stage="day-3")).then(status=409, code="already_sent")
    scenario.when(reminder(stage="day-3", by=OPERATOR, override="op-1")).granted_now()


@pytest.mark.parametrize("request_", [notification, digest, intent, reply, payment_failed])
def test_a_mail_that_was_repeated_is_corrected_only_after_its_repeats(request_: Any) -> None:
    scenario = given(at("2026-12-01"), invoice(), message(), request_(), report())
    for action in ("op-1", "op-2"):
        scenario.when(days(1), request_(by=OPERATOR, override=action), report(by=OPERATOR))
    scenario.when(corrected("$1")).then(status=409, code="already_settled", events=[])
    assert scenario.body["detail"].endswith(f"may have, as {scenario.granted[1]}")
    scenario.when(corrected("$2"))
    scenario.when(corrected("$1")).then(status=409, code="already_settled", events=[])
    scenario.when(corrected("$3"), corrected("$1")).then(status=200)
    scenario.when(days(1), request_()).granted_now()


def test_a_stage_that_was_repeated_stays_used_up() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-04T08:00Z"), reminder(), report())
    scenario.when(minutes(5), reminder(stage="day-3", by=OPERATOR, override="op-1"))
    scenario.when(corrected("$1")).then(status=409, code="already_settled", events=[])
    scenario.when(report("rejected", by=OPERATOR), corrected("$1")).then(status=200)


def test_a_mail_that_went_out_under_two_permits_stays_sent() -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-04T08:00Z"), reminder())
    scenario.when(minutes(11), reminder(), report(), report(permit="$1"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "sent"]
    scenario.when(corrected("$2")).then(status=409, code="already_settled", events=[])
    scenario.when(corrected("$1"), corrected("$2")).then(status=200)
    scenario.when(reminder()).granted_now()


@pytest.mark.parametrize("past_the_ledger", [True, False])
def test_a_mail_that_went_out_past_the_ledger_too_stays_sent(past_the_ledger: bool) -> None:
    scenario = given(at("2026-12-01"), invoice(), at("2026-12-04T08:00Z"), reminder(), report())
    if past_the_ledger:
        scenario.when(observed_send("2026-12-04T07:00Z", "cus_1", "inv_1", "day-3"))
    status = 409 if past_the_ledger else 200
    code = "already_settled" if past_the_ledger else None
    scenario.when(corrected()).then(status=status, code=code)


def in_an_incident(*steps: Any) -> Scenario:
    """An incident with all sending paused, so that apologies may go out."""
    now = at("2026-12-01")
    declared = DeclareIncident("F1", "flood", "bug", at("2026-11-30"), now, "ann", OPERATOR)
    paused = CallPause("all", "flood", "ann", OPERATOR)
    return given(now, invoice(), invoice("inv_2", customer="cus_2"), declared, paused, *steps)


@pytest.mark.parametrize("merge", [False, True], ids=["one id", "merged meanwhile"])
def test_of_two_apologies_that_went_out_neither_frees_the_other(merge: bool) -> None:
    first = (apology(), redeem(), report(id="q"), corrected("$1"))
    scenario = in_an_incident(*first)
    if merge:
        scenario.when(merged("cus_1", "cus_2"))
    second = apology("cus_2" if merge else "cus_1")
    scenario.when(minutes(1), second, redeem("$2"), report(permit="$2"))
    scenario.when(minutes(1), delivery(id="q"))
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["sent", "sent"]
    scenario.when(corrected("$2")).then(status=409, code="already_settled", events=[])
    assert scenario.body["detail"].endswith(f"may have, as {scenario.granted[0]}")
    scenario.when(days(30), second).then(status=409, code="apology_already_sent")


def test_an_apology_that_went_out_takes_back_the_one_under_a_former_id() -> None:
    scenario = in_an_incident(apology(), redeem(), report(id="q"), corrected("$1"))
    scenario.when(merged("cus_1", "cus_2"), minutes(1), apology("cus_2")).granted_now()
    scenario.when(minutes(1), delivery(id="q"))
    assert scenario.permit("$1").state is State.SENT
    assert scenario.permit("$2").state is State.REVOKED


def test_of_two_repeats_of_one_action_that_went_out_neither_frees_the_other() -> None:
    again = notification(by=OPERATOR, override="op-1")
    scenario = given(notification(), report(), again, report(by=OPERATOR, id="q"), corrected("$2"))
    scenario.when(minutes(1), again, report(by=OPERATOR), minutes(1), delivery(id="q"))
    assert [scenario.permit(f"${n}").state for n in (1, 2, 3)] == ["sent"] * 3
    scenario.when(corrected("$3")).then(status=409, code="already_settled", events=[])
