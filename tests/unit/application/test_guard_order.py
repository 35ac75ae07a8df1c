"""The order of the guards (D12), and every code that the facts of an invoice can give."""

from typing import Any

import pytest

from ledger.application.commands import CallPause, EnterRecovery
from ledger.application.kinds.reminder import Expected
from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from tests.support.build import (
    OPERATOR,
    at,
    customer,
    customer_hold,
    delivery,
    fact,
    hold,
    invoice,
    minutes,
    notification,
    paid,
    redeem,
    reminder,
    report,
    unhold,
)
from tests.support.given import Scenario, given

RECOVERY = EnterRecovery("an older copy", None, OPERATOR)
PAUSE = CallPause("all", "flood", "ann", OPERATOR)
FULL = [notification(f"full-{n}") for n in range(2)]


def ready(**fields: Any) -> Scenario:
    """An invoice on its day 7, of a customer with an address."""
    return given(at("2026-12-08"), invoice(email="pat@x.example", **fields))


def held_address(scenario: Scenario) -> Scenario:
    """Let a mail bounce, some other day."""
    scenario.when(notification("bounced"), report())
    return scenario.when(fact(delivery("bounced", permit=scenario.granted[-1])))


# Each step adds one more reason; the answer is always the one that comes first in D12.
LADDER: list[tuple[str, list[Any]]] = [
    ("cap_reached", FULL),
    ("breaker_open", [notification("full-3")]),
    ("address_on_hold", ["bounce"]),
    ("paused", [PAUSE]),
    ("recovery_mode", [RECOVERY]),
    ("on_hold", [customer_hold()]),
    ("payment_in_flight", [paid(5, state="pending")]),
    ("on_hold", [hold()]),
    ("nothing_owed", [paid(30000, id="p2")]),
]


@pytest.mark.parametrize("reasons", range(1, len(LADDER) + 1))
def test_the_first_reason_in_order_is_given(reasons: int) -> None:
    scenario = ready()
    for _, steps in LADDER[:reasons]:
        for step in steps:
            if step == "bounce":
                scenario.when(fact(delivery("bounced", permit=scenario.granted[0])))
            else:
                scenario.when(step)
    scenario.when(reminder())
    assert scenario.body["code"] == LADDER[reasons - 1][0]


def test_a_duplicate_and_a_live_permit_come_before_every_fact() -> None:
    everything = [paid(30000), hold(), customer_hold(), PAUSE, RECOVERY]
    live = ready().when(reminder(stage="day-7"), *everything)
    live.when(reminder(stage="day-7")).then(status=409, code="permit_held")
    sent = ready().when(reminder(stage="day-7"), report(), *everything)
    sent.when(reminder(stage="day-7")).then(status=409, code="already_sent")
    unknown = ready().when(reminder(stage="day-7"), report("unknown"), *everything)
    unknown.when(reminder(stage="day-7")).then(status=409, code="outcome_unknown")


def test_recovery_denies_a_redeem_and_takes_nothing_back() -> None:
    scenario = ready().when(reminder(), RECOVERY)
    scenario.when(redeem()).then(status=409, code="recovery_mode", events=[])
    assert scenario.permit().state == "granted"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": Status.VOID}, "voided"),
        ({"status": Status.PAID}, "nothing_owed"),
        ({"status": Status.UNCOLLECTIBLE}, "nothing_owed"),
        ({"status": Status.DRAFT}, "not_past_due"),
        ({"due": None}, "no_due_date"),
        ({"due": "2026-12-08"}, "not_past_due"),
        ({"due": "2026-12-07"}, "not_reached"),
    ],
)
def test_codes_of_an_invoice(fields: dict[str, Any], code: str) -> None:
    scenario = ready(**fields).when(reminder()).then(status=409, code=code, events=[], alerts=[])
    assert scenario.body["withheld"][0]["code"] == code


def test_an_invoice_that_nobody_spoke_of() -> None:
    ready().when(reminder("inv_2")).then(status=404, code="unknown_invoice", events=[])
    known_only_by_a_payment = ready().when(paid(5, "inv_2"))
    known_only_by_a_payment.when(reminder("inv_2")).then(status=404, code="unknown_invoice")


def test_a_stage_that_is_not_in_the_policy() -> None:
    ready().when(reminder(stage="day-8")).then(status=422, code="invalid_request")


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        (Expected(2, None), "stale_cycle"),
        (Expected(1, 29999), "amount_changed"),
        (Expected(2, 29999), "stale_cycle"),
        (Expected(1, 30000), None),
        (Expected(None, 30000), None),
    ],
)
def test_what_the_sender_believes_of_the_invoice(expected: Expected, code: str | None) -> None:
    scenario = ready().when(reminder(expected={"inv_1": expected}))
    assert scenario.body.get("code") == code


def test_when_asking_again_may_help_is_told() -> None:
    scenario = ready(due="2026-12-07").when(reminder())
    assert scenario.body["available_at"] == "2026-12-10T00:00:00Z"
    assert scenario.body["retryable"] is True
    scenario = ready().when(hold(until="2026-12-09T10:00Z"), reminder())
    scenario.then(status=409, code="on_hold", body={"available_at": "2026-12-09T10:00:00Z"})
    scenario.when(at("2026-12-09T10:00Z"), reminder()).granted_now()
    scenario = ready().when(paid(5, state="pending"), reminder())
    scenario.then(
        status=409, code="payment_in_flight", body={"available_at": "2026-12-15T00:00:00Z"}
    )
    scenario.when(at("2026-12-15T00:00:00Z"), reminder()).granted_now()


def test_a_hold_lifted_by_its_reason() -> None:
    scenario = ready().when(hold("dispute"), hold("promise"), unhold("promise"), reminder())
    scenario.then(status=409, code="on_hold")
    scenario.when(unhold("dispute"), reminder()).granted_now()


def test_several_invoices_in_one_mail_with_those_that_pass() -> None:
    scenario = ready().when(
        invoice("b", due="2026-12-05"),
        invoice("c", due="2026-12-07"),
        invoice("d"),
        paid(30000, "d"),
        reminder("d", "inv_1", "nobody's", "b", "c", "b"),
    )
    scenario.granted_now()
    items = {item["invoice_id"]: item["stage"] for item in scenario.body["items"]}
    assert items == {"inv_1": "day-7", "b": "day-3"}
    withheld = {item["invoice_id"]: item["code"] for item in scenario.body["withheld"]}
    assert withheld == {"d": "nothing_owed", "nobody's": "unknown_invoice", "c": "not_reached"}
    assert scenario.body["windows"] == {"outreach_24h": {"used": 1, "limit": 2}}
    scenario.when(report(), reminder("inv_1", "b")).then(status=409, code="already_sent")


def test_none_passes_and_the_code_is_the_first_invoices() -> None:
    scenario = ready().when(invoice("b"), paid(30000, "b"), hold(), reminder("b", "inv_1"))
    scenario.then(status=409, code="nothing_owed")
    assert [item["code"] for item in scenario.body["withheld"]] == ["nothing_owed", "on_hold"]


def test_invoices_of_two_customers_are_two_mails() -> None:
    scenario = ready().when(invoice("b", customer="cus_2")).when(reminder("inv_1", "b"))
    scenario.then(status=422, code="invalid_request", events=[])


def test_a_duplicate_names_the_original() -> None:
    scenario = ready().when(reminder(), redeem(), report(id="pm_1"), minutes(5), reminder())
    scenario.then(status=409, code="already_sent")
    assert scenario.body["original"] == {
        "permit_id": scenario.granted[0],
        "sender": "poller",
        "sent_at": "2026-12-08T00:00:00Z",
        "provider_message_id": "pm_1",
    }


def test_facts_that_ride_along_are_judged_and_stay() -> None:
    scenario = given(at("2026-12-08"))
    scenario.when(reminder(facts=(invoice(due="2026-12-07"),))).then(status=409, code="not_reached")
    assert scenario.aggregate("invoice", "inv_1").standing.balance == 30000
    scenario.when(reminder(facts=(invoice(),))).granted_now()


def test_a_customer_without_an_address_is_still_asked_for() -> None:
    scenario = given(at("2026-12-08"), invoice(), reminder()).granted_now()
    assert scenario.body["to"] is None
    scenario = given(at("2026-12-08"), invoice(), customer("cus_1", "pat@x.example"), reminder())
    assert scenario.body["to"] == "pat@x.example"


def test_the_smallest_amount_to_dun() -> None:
    policy = Policy(smallest_amount_to_dun={"USD": 500})
    scenario = given(at("2026-12-08"), invoice(owes=499, total=499), policy=policy)
    scenario.when(reminder()).then(status=409, code="nothing_owed")


def test_a_live_permit_is_named_with_the_end_of_its_life() -> None:
    scenario = ready().when(reminder(), minutes(3), reminder())
    scenario.then(status=409, code="permit_held", body={"available_at": "2026-12-08T00:10:00Z"})
    assert scenario.body["permit_id"] == scenario.granted[0]
    scenario.when(notification("n"), notification("n")).then(
        status=409, code="permit_held", body={"available_at": "2026-12-08T00:13:00Z"}
    )
