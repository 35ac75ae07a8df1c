"""Facts about mail: deliveries in any order, delivery reports, and sends past the ledger."""

from typing import Any

import pytest

from ledger.application.commands import ReportOutcome
from ledger.application.facts.mail_reports import MailReport
from ledger.domain.automatic import DELIVERY_REPORT
from ledger.domain.policy import Policy
from tests.support.build import (
    IDENTITY,
    LAST,
    POLLER,
    at,
    customer,
    days,
    delivery,
    fact,
    hours,
    intent,
    invoice,
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


def handed_over() -> Scenario:
    """A notice to somebody with an address, handed over to the provider."""
    return given(customer("cus_1", "pat@x.example"), notification(), redeem())


@pytest.mark.parametrize("event", ["delivered", "bounced", "complained"])
def test_a_delivery_event_settles_a_mail_of_unknown_outcome(event: str) -> None:
    scenario = handed_over().when(report("unknown", id="pm_1"), hours(4))
    scenario.when(fact(delivery(event, "pm_1"))).then(result="applied")
    assert scenario.permit().state == "sent"
    assert scenario.alerts == ([] if event == "delivered" else ["address_on_hold"])
    scenario.when(notification()).then(status=409, code="already_sent")


def test_an_event_that_comes_before_the_outcome_is_kept_for_it() -> None:
    early = fact(delivery("bounced", "pm_1"), id="e1", source="resend")
    scenario = handed_over().when(early).then(result="applied", events=[])
    scenario.when(early).then(result="duplicate")
    scenario.when(report(id="pm_1")).then(
        status=200,
        events=["Customer.MailSettled", "Address.Created", "Address.AddressHeld"],
        alerts=["address_on_hold"],
    )


def test_an_early_bounce_is_not_forgotten_for_a_delivery() -> None:
    for order in (("delivered", "bounced"), ("bounced", "delivered")):
        scenario = handed_over().when(*(fact(delivery(event, "pm_1")) for event in order))
        scenario.when(report(id="pm_1")).then(status=200, alerts=["address_on_hold"])


@pytest.mark.parametrize("outcome", ["rejected", "unknown"])
def test_a_delivery_outweighs_what_the_sender_believes(outcome: str) -> None:
    scenario = handed_over().when(fact(delivery("delivered", "pm_1")), report(outcome, id="pm_1"))
    scenario.then(status=200, body={"state": "sent"})
    assert scenario.permit().state == "sent"


def test_the_senders_ids_are_taken_also_after_a_delivery() -> None:
    scenario = handed_over()
    scenario.when(fact(delivery(permit=scenario.granted[0])), report(id="pm_1"))
    scenario.then(status=200, events=["Customer.MailSettled"])
    scenario.when(fact(delivery("complained", "pm_1"))).then(
        result="applied", events=["Address.Created", "Address.AddressHeld"]
    )
    other = handed_over()
    other.when(fact(delivery(permit=other.granted[0])), fact(delivery("bounced", "pm_2")))
    other.when(report(id="pm_2")).then(
        status=200, events=["Address.Created", "Address.AddressHeld"]
    )


def test_a_message_id_that_the_provider_gave_is_known_too() -> None:
    mine = ReportOutcome(LAST, "sent", POLLER, "ses", "pm_1", "<0100@ses.example>")
    scenario = given(message(), notification(), redeem(), mine)
    scenario.when(message("<0100@ses.example>", thread="thr_2")).then(result="applied")
    assert scenario.event("Thread.MessageSeen").message.ours is True


WARNING = {"Ledger-Warning": "reported-id-not-kept"}
OTHERS = "<in0@gmail.example>"


def named(message_id: str | None, provider_id: str | None = None) -> ReportOutcome:
    """A sender's report that gives its mail these ids."""
    return ReportOutcome(LAST, "sent", POLLER, "ses", provider_id, message_id)


def test_a_report_does_not_make_somebodys_message_our_own() -> None:
    scenario = handed_over().when(message(OTHERS, "thr_v", "cus_v", sender="v@x.example"))
    scenario.when(named(OTHERS, "pm_1")).then(status=200, body={"state": "sent"}, headers=WARNING)
    assert (scenario.permit().provider_message_id, scenario.permit().message_id) == ("pm_1", None)
    scenario.when(reply(OTHERS, "thr_v")).granted_now()


@pytest.mark.parametrize("whose", ["cus_1", "cus_v"])
def test_a_mail_that_was_seen_going_out_is_the_permits_where_it_is_its_customers(
    whose: str,
) -> None:
    out = message(OTHERS, "thr_v", whose, "outbound", recipient=f"{whose}@x.example")
    scenario = handed_over().when(out, named(OTHERS)).then(status=200)
    assert scenario.permit().message_id == (OTHERS if whose == "cus_1" else None)
    assert dict(scenario.answer.headers) == ({} if whose == "cus_1" else WARNING)


@pytest.mark.parametrize("sender", ["v@x.example", "stranger@x.example"])
def test_a_message_wins_over_a_report_that_came_before_it(sender: str) -> None:
    known = customer("cus_v", "v@x.example")
    scenario = handed_over().when(known, named(OTHERS)).then(status=200)
    assert scenario.answer.headers == ()
    told = message(OTHERS, "thr_v", "cus_v", sender=sender, recipient="us@x.example")
    scenario.when(told).then(result="applied")
    assert scenario.event("Thread.MessageSeen").message.ours is False
    scenario.when(reply(OTHERS, "thr_v")).granted_now()
    assert scenario.body["to"] == sender


def test_a_mail_that_comes_back_under_a_reported_id_stays_our_own() -> None:
    scenario = handed_over().when(named("<0100@ses.example>"))
    back = message("<0100@ses.example>", "thr_2", sender="us@x.example", recipient="pat@x.example")
    scenario.when(back)
    assert scenario.event("Thread.MessageSeen").message.ours is True
    scenario.when(reply("<0100@ses.example>", "thr_2")).then(status=409, code="own_message")


def test_a_permit_has_one_id_of_each_kind() -> None:
    scenario = handed_over().when(named("<a@ses.example>", "pm_1"))
    scenario.when(named("<a@ses.example>", "pm_1")).then(status=200, events=[])
    assert scenario.answer.headers == ()
    for ids in (("<b@ses.example>", "pm_1"), ("<a@ses.example>", "pm_2")):
        scenario.when(named(*ids)).then(status=200, events=[], headers=WARNING)
    scenario.when(fact(delivery("bounced", "pm_2"))).then(result="applied", events=[])
    scenario.when(message("<b@ses.example>", "thr_2"), reply("<b@ses.example>", "thr_2"))
    scenario.granted_now()


def test_a_permit_keeps_ids_that_were_told_after_a_delivery() -> None:
    scenario = handed_over()
    scenario.when(fact(delivery(permit=scenario.granted[0])), named("<a@ses.example>", "pm_1"))
    assert scenario.body["provider_message_id"] == "pm_1"
    scenario.when(named("<b@ses.example>")).then(status=200, headers=WARNING)
    scenario.when(named(None, "pm_2")).then(status=200, headers=WARNING)


def test_a_report_does_not_take_the_ids_of_another_permit() -> None:
    scenario = handed_over().when(named("<a@ses.example>", "pm_1"))
    first = scenario.granted[0]
    for ids in (("<a@ses.example>", None), (None, "pm_1"), (IDENTITY.message_id(first), None)):
        scenario.when(notification(str(ids)), redeem(), named(*ids))
        scenario.then(status=200, body={"state": "sent"}, headers=WARNING)
        assert (scenario.permit().message_id, scenario.permit().provider_message_id) == (None, None)
    scenario.when(fact(delivery("bounced", "pm_1")))
    assert scenario.permit(first).bounced is True


def test_a_delivery_of_nobodys_mail_is_ignored() -> None:
    given().when(fact(delivery("delivered"))).then(result="ignored", events=[])


def test_a_bounce_of_a_reminder_is_on_record_and_the_stage_stays_used() -> None:
    scenario = given(
        at("2026-12-04"), invoice(email="pat@x.example"), reminder(), report(id="pm_1")
    )
    scenario.when(fact(delivery("bounced", "pm_1"))).then(
        result="applied",
        events=["Invoice.ReminderBounced", "Address.Created", "Address.AddressHeld"],
    )
    assert scenario.aggregate("invoice", "inv_1").stages[(1, "day-3")].state == "bounced"
    scenario.when(reminder()).then(status=409, code="already_sent")


BOUNCE = MailReport(DELIVERY_REPORT)


def report_about(scenario: Scenario, permit: str, told: MailReport | None = BOUNCE) -> Any:
    names = ("<other@x.example>", IDENTITY.message_id(permit))
    return message("<dsn@x.example>", automatic="a machine's", references=names, report=told)


@pytest.mark.parametrize("state", ["granted", "redeemed", "unknown", "expired", "rejected"])
def test_a_machines_answer_to_our_mail_proves_that_it_went_out(state: str) -> None:
    scenario = given(message(), intent())
    if state == "redeemed":
        scenario.when(redeem())
    elif state == "expired":
        scenario.when(minutes(10))
    elif state != "granted":
        scenario.when(redeem(), report(state))
    scenario.when(report_about(scenario, scenario.granted[0]))
    assert scenario.permit().state == "sent"
    assert scenario.alerts == (["sent_after_expiry"] if state in ("expired", "rejected") else [])
    scenario.when(intent()).then(status=409, code="duplicate_intent")


def test_a_delivery_report_about_a_reminder_marks_it_and_counts_nothing_new() -> None:
    scenario = given(at("2026-12-04"), message(), invoice(), reminder(), report())
    scenario.when(report_about(scenario, scenario.granted[0])).then(
        result="applied", events=["Thread.MessageSeen", "Invoice.ReminderBounced"]
    )
    vacation = given(at("2026-12-04"), message(), invoice(), reminder(), report())
    vacation.when(report_about(vacation, vacation.granted[0], None)).then(
        result="applied", events=["Thread.MessageSeen"]
    )


def test_a_send_past_the_ledger_counts_and_uses_up_its_stage() -> None:
    scenario = given(at("2026-12-08T08:00Z"), invoice())
    scenario.when(observed_send("2026-12-08T07:00Z", invoice_id="inv_1", stage="day-7")).then(
        result="applied", events=["Customer.MailObserved", "Invoice.ReminderSent"]
    )
    states = {s: r.state for (_, s), r in scenario.aggregate("invoice", "inv_1").stages.items()}
    assert states == {"day-3": "superseded", "day-7": "sent"}
    scenario.when(reminder()).then(status=409, code="already_sent")
    assert scenario.body["original"]["sent_at"] == "2026-12-08T07:00:00Z"
    scenario.when(notification("1"), notification("2")).then(status=429, code="cap_reached")


def test_a_send_past_the_ledger_uses_up_its_intent_in_a_thread_of_somebody_new() -> None:
    scenario = given(observed_send("2025-12-01", thread="thr_9", intent="welcome"))
    scenario.when(intent("welcome", thread="thr_9")).then(status=409, code="duplicate_intent")
    scenario.when(intent("other", thread="thr_9")).granted_now()


def test_an_unknown_stage_is_rejected_and_may_be_corrected() -> None:
    wrong = fact(observed_send("2025-12-01", invoice_id="inv_1", stage="day-8"), id="1", source="x")
    right = fact(observed_send("2025-12-01", invoice_id="inv_1", stage="day-7"), id="1", source="x")
    scenario = given(invoice(due="2025-11-20")).when(wrong).then(result="rejected", events=[])
    scenario.when(right).then(result="applied")


def test_the_third_send_within_a_day_opens_the_breaker_once() -> None:
    scenario = given(at("2026-01-02"))
    for hour in (1, 2):
        scenario.when(observed_send(f"2026-01-01T0{hour}:00Z")).then(result="applied", alerts=[])
    scenario.when(observed_send("2026-01-01T03:00Z")).then(
        result="applied",
        events=["Customer.MailObserved", "Customer.BreakerOpened"],
        alerts=["breaker_opened"],
    )
    scenario.when(observed_send("2026-01-01T04:00Z")).then(result="applied", alerts=[])


def test_imported_sends_older_than_a_day_open_nothing() -> None:
    scenario = given(at("2026-01-03"))
    for hour in range(9):
        scenario.when(observed_send(f"2026-01-01T0{hour}:00Z")).then(result="applied", alerts=[])
    scenario.when(notification()).granted_now()
    assert scenario.body["windows"]["outreach_24h"]["used"] == 1


def test_an_expired_permit_that_nobody_noticed_opens_no_breaker() -> None:
    scenario = given(notification("1"), notification("2"), minutes(10))
    scenario.when(observed_send("2026-01-01T00:05Z")).then(result="applied", alerts=[])
    assert [scenario.permit(f"${n}").state for n in (1, 2)] == ["expired", "expired"]


def test_a_send_dated_in_the_future_counts_from_now() -> None:
    sends = [fact(observed_send(f"2026-06-0{n}"), id=str(n)) for n in (1, 2)]
    scenario = given(*sends)
    scenario.when(notification()).then(status=429, code="cap_reached")
    scenario = given(*sends, days(1))
    scenario.when(notification()).granted_now()


def test_a_mail_about_a_failed_payment_once_per_event_and_once_per_attempt() -> None:
    scenario = given(invoice(), payment_failed("evt_1", "pi_1"), report())
    scenario.when(payment_failed("evt_1")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_2", "pi_1")).then(status=409, code="already_sent")
    scenario.when(payment_failed("evt_3", "pi_2")).granted_now()
    scenario.when(payment_failed("evt_9", "pi_9", invoice_id="inv_9")).then(
        status=404, code="unknown_invoice"
    )


def test_a_notice_of_the_old_owner_lapses_for_the_new_one() -> None:
    scenario = given(invoice(), payment_failed(), invoice(customer="cus_2"))
    scenario.when(payment_failed()).then(status=409, code="permit_held")
    scenario.when(minutes(10), payment_failed()).granted_now()
    assert scenario.body["customer_id"] == "cus_2"


def test_wide_windows_do_not_change_what_is_a_duplicate() -> None:
    scenario = given(policy=Policy(outreach_per_day=50))
    for number in range(9):
        scenario.when(notification(str(number)), report()).then(status=200)
    scenario.when(notification("3")).then(status=409, code="already_sent")
