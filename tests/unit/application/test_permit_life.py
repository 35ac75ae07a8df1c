"""The life of a permit: redeem, outcomes in any order, lapses, and what each of them frees (D6)."""

from typing import Any

import pytest

from tests.support.build import (
    AGENT,
    OPERATOR,
    POLLER,
    at,
    customer_hold,
    days,
    delivery,
    hold,
    hours,
    invoice,
    lapse,
    message,
    minutes,
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

OTHER = "00000000-0000-0000-0000-0000000000ff"


def granted(**how: Any) -> Scenario:
    """A reminder of day-7, superseding day-3, just granted."""
    return given(at("2026-12-08T08:00Z"), invoice(), reminder(**how))


def stages(scenario: Scenario) -> dict[str, str]:
    """What is on record for cycle 1."""
    records = scenario.aggregate("invoice", "inv_1").stages
    return {stage: record.state for (_, stage), record in records.items()}


def used(scenario: Scenario) -> int:
    """How many mails count against the customer now, by asking for one more invoice's reminder."""
    scenario.when(invoice("inv_probe"), reminder("inv_probe"))
    used: int = scenario.body["windows"]["outreach_24h"]["used"]
    return used - 1


def test_granted_redeemed_sent() -> None:
    scenario = granted().then(status=201, body={"state": "granted"})
    assert scenario.events[-2:] == ["Invoice.ReminderPermitted", "Customer.MailPermitted"]
    assert scenario.body["send_by"] == "2026-12-08T08:10:00Z"
    scenario.when(minutes(1), redeem()).then(status=200, events=["Customer.MailRedeemed"])
    assert scenario.body["redeemed_at"] == "2026-12-08T08:01:00Z"
    scenario.when(minutes(1), report(id="pm_1")).then(
        status=200, events=["Customer.MailSettled", "Invoice.ReminderSent"], body={"state": "sent"}
    )
    assert stages(scenario) == {"day-3": "superseded", "day-7": "sent"}
    assert scenario.permit().provider_message_id == "pm_1"


def test_a_permit_that_nobody_knows() -> None:
    scenario = given()
    scenario.when(redeem(OTHER)).then(status=404, code="unknown_permit", events=[])
    scenario.when(report(permit=OTHER)).then(status=404, code="unknown_permit", events=[])
    scenario.when(lapse(OTHER)).then(result="ignored", events=[])


def test_only_the_granting_key_or_operate_may_redeem_and_report() -> None:
    scenario = granted()
    scenario.when(redeem(by=AGENT)).then(status=403, code="forbidden", events=[])
    scenario.when(report(by=AGENT)).then(status=403, code="forbidden", events=[])
    scenario.when(redeem(by=OPERATOR)).then(status=200)
    scenario.when(report(by=OPERATOR)).then(status=200, body={"state": "sent"})


def test_redeemed_once_and_again_only_by_the_same_attempt() -> None:
    scenario = granted().when(redeem(attempt="try-1")).then(status=200)
    scenario.when(redeem(attempt="try-1")).then(status=200, events=[])
    scenario.when(redeem(attempt="try-2")).then(status=409, code="already_redeemed", events=[])
    scenario.when(redeem()).then(status=409, code="already_redeemed")
    scenario.when(report(), redeem(attempt="try-1")).then(status=409, code="already_redeemed")


def test_without_an_attempt_a_redeem_is_never_heard_twice() -> None:
    granted().when(redeem()).when(redeem()).then(status=409, code="already_redeemed", events=[])


def test_granted_and_redeemed_at_once() -> None:
    scenario = granted(redeem=True).then(status=201, body={"state": "redeemed"})
    scenario.when(redeem()).then(status=409, code="already_redeemed")
    scenario.when(minutes(10), lapse()).then(
        result="applied", events=["Customer.MailSettled", "Invoice.ReminderOutcomeUnknown"]
    )


@pytest.mark.parametrize("outcome", ["sent", "rejected", "unknown"])
def test_the_same_outcome_again_changes_nothing(outcome: str) -> None:
    scenario = granted().when(redeem(), report(outcome))
    scenario.when(report(outcome)).then(status=200, events=[], body={"state": outcome})


@pytest.mark.parametrize(
    ("first", "then", "status", "state"),
    [
        ("sent", "rejected", 409, "sent"),
        ("sent", "unknown", 409, "sent"),
        ("rejected", "unknown", 409, "rejected"),
        ("rejected", "sent", 200, "sent"),
        ("unknown", "sent", 200, "sent"),
        ("unknown", "rejected", 200, "rejected"),
    ],
)
def test_outcomes_in_any_order(first: str, then: str, status: int, state: str) -> None:
    scenario = granted().when(redeem(), report(first), report(then))
    scenario.then(status=status, code="already_settled" if status == 409 else None)
    assert scenario.permit().state == state


def test_an_unredeemed_permit_expires_at_its_send_by_and_frees_everything() -> None:
    scenario = granted().when(minutes(10)).when(lapse())
    scenario.then(result="applied", events=["Customer.MailSettled", "Invoice.ReminderFreed"])
    assert stages(scenario) == {}
    assert scenario.permit().state == "expired"
    assert used(scenario) == 0
    scenario.when(reminder()).granted_now()
    assert scenario.body["items"][0]["supersedes"] == ["day-3"]


def test_a_moment_before_its_send_by_it_is_alive() -> None:
    scenario = granted().when(at("2026-12-08T08:09:59.999999Z"))
    scenario.when(lapse()).then(result="ignored", events=[])
    scenario.when(reminder()).then(status=409, code="permit_held")
    scenario.when(redeem()).then(status=200)


def test_a_redeem_at_its_send_by_is_too_late() -> None:
    scenario = granted().when(minutes(10), redeem())
    scenario.then(
        status=409, code="expired", events=["Customer.MailSettled", "Invoice.ReminderFreed"]
    )


def test_the_next_request_lets_it_lapse_by_itself() -> None:
    scenario = granted().when(minutes(10)).when(reminder())
    scenario.granted_now()
    assert scenario.permit("$1").state == "expired"
    assert scenario.events[:2] == ["Customer.MailSettled", "Invoice.ReminderFreed"]


@pytest.mark.parametrize(("by", "redeemed"), [(POLLER, True), (AGENT, False), (AGENT, True)])
def test_what_may_have_been_handed_over_becomes_unknown(by: Any, redeemed: bool) -> None:
    scenario = granted(by=by)
    if redeemed:
        scenario.when(minutes(2), redeem(by=by))
    scenario.when(at("2026-12-08T08:10Z"), reminder()).then(status=409, code="outcome_unknown")
    assert stages(scenario) == {"day-3": "superseded", "day-7": "unknown"}
    scenario.when(days(400), reminder(stage="day-7")).then(status=409, code="outcome_unknown")
    scenario.when(reminder(stage="day-14")).granted_now()


def test_unknown_is_settled_by_a_late_report_or_a_delivery() -> None:
    for settling in (report(by=OPERATOR), delivery(permit="00000000-0000-0000-0000-000000000001")):
        scenario = granted().when(redeem(), report("unknown"), hours(4), settling)
        assert scenario.permit().state == "sent"
        scenario.when(reminder()).then(status=409, code="already_sent")


def test_a_report_of_sent_after_it_expired_is_taken_as_the_fact_that_it_is() -> None:
    scenario = granted().when(minutes(11)).when(report())
    scenario.then(status=200, alerts=["sent_after_expiry"], body={"state": "sent"})
    assert stages(scenario) == {"day-3": "superseded", "day-7": "sent"}
    assert used(scenario) == 1
    scenario.when(reminder()).then(status=409, code="already_sent")


def test_a_mail_sent_after_its_permit_was_freed_counts_in_the_window_all_the_same() -> None:
    scenario = granted().when(minutes(10), lapse())
    scenario.when(invoice("inv_2"), reminder("inv_2"), report())
    scenario.when(report(permit="$1")).then(status=200, alerts=["sent_after_expiry"])
    scenario.when(minutes(1), invoice("inv_3"), reminder("inv_3")).then(
        status=429, code="cap_reached"
    )


@pytest.mark.parametrize("freed", ["rejected", "expired", "revoked"])
def test_a_freed_permit_frees_its_key_what_it_superseded_and_its_place(freed: str) -> None:
    scenario = granted()
    if freed == "rejected":
        scenario.when(redeem(), report("rejected"))
    elif freed == "expired":
        scenario.when(minutes(10), lapse())
    else:
        scenario.when(paid(1), redeem())
    assert scenario.permit().state == freed
    assert stages(scenario) == {}
    assert used(scenario) == 0


FACTS = {
    "a part payment": paid(100),
    "paid": paid(30000),
    "a payment in flight": paid(30000, state="pending"),
    "a hold": hold(),
    "a customer's hold": customer_hold(),
    "the due date": invoice(due="2026-12-02"),
    "an extension": invoice(due="2027-01-15"),
    "another owner": invoice(customer="cus_2"),
}


@pytest.mark.parametrize("since", FACTS)
@pytest.mark.parametrize("ask", [reminder, payment_failed])
def test_a_fact_since_the_grant_revokes_the_permit(since: str, ask: Any) -> None:
    assert callable(ask)
    scenario = given(at("2026-12-08"), invoice(), ask(), minutes(1), FACTS[since])
    scenario.when(redeem()).then(status=409, code="revoked")
    assert scenario.permit().state == "revoked"
    scenario.when(redeem()).then(status=409, code="revoked", events=[])


def test_a_hold_that_was_lifted_again_revokes_it_too() -> None:
    scenario = granted().when(hold(until="2026-12-08T08:01Z"), minutes(2))
    scenario.when(redeem()).then(status=409, code="revoked")


def test_a_customer_hold_of_other_kinds_revokes_nothing() -> None:
    granted().when(customer_hold(kinds=("digest",)), redeem()).then(status=200)


def test_a_fact_after_the_redeem_changes_nothing() -> None:
    scenario = granted().when(redeem(attempt="a"), paid(30000))
    scenario.when(redeem(attempt="a")).then(status=200)
    scenario.when(report()).then(status=200)


def test_one_fact_revokes_the_permit_of_all_its_invoices() -> None:
    scenario = given(at("2026-12-08"), invoice("a"), invoice("b"), reminder("a", "b"))
    scenario.when(paid(1, "b"), redeem()).then(status=409, code="revoked")
    assert scenario.aggregate("invoice", "a").stages == {}
    scenario.when(reminder("a", "b")).granted_now()
    assert [i["amount_remaining"] for i in scenario.body["items"]] == [30000, 29999]


def test_after_three_rejections_the_key_is_held_and_a_human_is_told() -> None:
    scenario = granted()
    keys = [scenario.body["provider_idempotency_key"]]
    for _ in range(2):
        scenario.when(redeem(), report("rejected")).then(status=200, alerts=[])
        scenario.when(reminder()).granted_now()
        keys.append(scenario.body["provider_idempotency_key"])
    assert len(set(keys)) == 3
    scenario.when(redeem(), report("rejected")).then(status=200, alerts=["send_key_held"])
    scenario.when(reminder()).then(status=409, code="on_hold", events=[])
    scenario.when(reminder(by=OPERATOR, override="op-1")).granted_now()


def test_an_expired_try_keeps_the_providers_key() -> None:
    scenario = granted()
    first = scenario.body["provider_idempotency_key"]
    scenario.when(minutes(10), reminder())
    assert scenario.body["provider_idempotency_key"] == first


def test_rejections_are_counted_for_each_invoice_of_a_mail() -> None:
    scenario = given(at("2026-12-08"), invoice("a"), invoice("b"))
    for _ in range(2):
        scenario.when(reminder("a"), redeem(), report("rejected"))
    scenario.when(reminder("a", "b"), redeem(), report("rejected")).then(
        status=200, alerts=["send_key_held"]
    )
    scenario.when(reminder("a")).then(status=409, code="on_hold")
    scenario.when(reminder("b")).granted_now()


def test_a_permit_that_is_redeemed_at_once_says_no_time_at_which_it_is_free() -> None:
    """Given a reply with `redeem`, when asked again, nothing promises that its place frees."""
    scenario = given(message())
    scenario.when(reply(redeem=True)).granted_now()
    scenario.when(reply()).then(status=409, code="permit_held")
    assert "available_at" not in scenario.body
