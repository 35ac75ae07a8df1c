"""Copies of a mail: each recipient may get it, counts it, and bounces for themselves (D8, D21)."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.commands import CallPause, DeclareIncident
from ledger.application.facts.delivery import Delivery
from ledger.domain.identity import customer_known_by
from ledger.domain.permit import State
from tests.support.build import (
    AGENT,
    OPERATOR,
    POLLER,
    address,
    address_hold,
    apology,
    at,
    customer,
    customer_hold,
    customer_unhold,
    days,
    delivery,
    hours,
    invoice,
    merged,
    message,
    minutes,
    notification,
    redeem,
    reminder,
    reply,
    report,
    unmerged,
)
from tests.support.given import START, Scenario, given

A, B, C = "cus_a", "cus_b", "cus_c"
SORRY = tuple(f"cus_{n}" for n in range(5))
BOB, EVE = "bob@x.example", "eve@x.example"
KNOWN = (customer(A, "ann@x.example"), customer(B, BOB), customer(C, EVE))


def note(event: str, to: str = A, **how: Any) -> Any:
    return notification(event, customer=to, **how)


def copied(event: str = "1", to: str = A, cc: tuple[str, ...] = (BOB,), **how: Any) -> Any:
    return note(event, to, cc=cc, **how)


def used(scenario: Scenario, customer_id: str) -> int:
    """How many mails count for the customer now."""
    now = scenario.store.now
    permits = scenario.aggregate("customer", customer_id).permits.values()
    return sum(permit.counts_within(now, days(1)) for permit in permits)


def test_a_copy_counts_from_the_redeem_on() -> None:
    scenario = given(*KNOWN).when(copied()).granted_now()
    assert scenario.body["copies"] == [{"customer_id": B}]
    assert (used(scenario, A), used(scenario, B)) == (1, 0)
    scenario.when(redeem()).then(
        status=200, events=["Customer.MailRedeemed", "Customer.MailObserved"]
    )
    assert scenario.body["copies"] == [{"customer_id": B}]
    counted = scenario.event("Customer.MailObserved").permit
    assert (counted.customer_id, counted.lane) == (B, scenario.permit("$1").lane)
    assert (used(scenario, A), used(scenario, B)) == (1, 1)
    scenario.when(report())
    assert (used(scenario, A), used(scenario, B)) == (1, 1)
    scenario.when(note("2", B)).granted_now()
    scenario.when(note("3", B)).then(status=429, code="cap_reached")


@pytest.mark.parametrize("how", [{"by": AGENT}, {"redeem": True}], ids=["no redeem", "at once"])
def test_a_copy_of_a_mail_that_may_be_out_at_once_counts_at_once(how: dict[str, Any]) -> None:
    scenario = given(*KNOWN).when(copied(**how)).granted_now()
    assert used(scenario, B) == 1
    scenario.when(report(by=how.get("by", POLLER)), hours(24))
    assert used(scenario, B) == 0


def test_a_copy_counts_from_the_latest_of_granted_redeemed_and_sent() -> None:
    scenario = given(*KNOWN, copied("1"), copied("2", C))
    scenario.when(minutes(1), redeem("$1"), redeem("$2"), minutes(8))
    scenario.when(report(permit="$1"), report(permit="$2"))
    assert scenario.event("Customer.MailSettled").state is State.SENT
    scenario.when(hours(24) - minutes(1))
    assert (used(scenario, A), used(scenario, B), used(scenario, C)) == (1, 2, 1)
    scenario.when(note("3", B)).then(status=429, code="cap_reached")
    later = scenario.body["frees_at"]
    assert later == "2026-01-02T00:09:00Z"
    scenario.when(minutes(1))
    assert (used(scenario, A), used(scenario, B), used(scenario, C)) == (0, 0, 0)


@pytest.mark.parametrize("told", [(), (report("unknown", by=AGENT),)], ids=["lapsed", "told"])
def test_a_copy_of_a_mail_of_unknown_outcome_counts_from_its_send_by(told: tuple[Any, ...]) -> None:
    scenario = given(*KNOWN, copied(by=AGENT), minutes(2), *told, hours(24))
    assert used(scenario, B) == 1
    scenario.when(minutes(7))
    assert used(scenario, B) == 1
    scenario.when(minutes(1))
    assert (used(scenario, A), used(scenario, B)) == (0, 0)


def test_a_late_report_of_a_mail_does_not_move_its_copies_beyond_its_send_by() -> None:
    scenario = given(*KNOWN, copied(by=AGENT), minutes(11), report("unknown", by=AGENT), hours(20))
    scenario.when(report(by=AGENT), hours(4) - minutes(2))
    assert (used(scenario, A), used(scenario, B)) == (1, 1)
    scenario.when(minutes(1))
    assert (used(scenario, A), used(scenario, B)) == (0, 0)


def test_a_mail_that_was_refused_had_no_copies() -> None:
    scenario = given(*KNOWN, copied(by=AGENT)).when(report("rejected", by=AGENT))
    assert (used(scenario, A), used(scenario, B)) == (0, 0)
    scenario.when(minutes(1), delivery(permit=scenario.granted[0]))
    assert scenario.permit("$1").state is State.SENT
    assert (used(scenario, A), used(scenario, B)) == (1, 1)


def test_a_mail_that_was_never_redeemed_counts_for_nobody_unless_it_went_out() -> None:
    scenario = given(*KNOWN, copied(), minutes(11))
    scenario.when(note("2", A)).granted_now()
    assert (scenario.permit("$1").state, used(scenario, B)) == (State.EXPIRED, 0)
    scenario.when(delivery(permit=scenario.granted[0]))
    assert (scenario.permit("$1").state, used(scenario, B)) == (State.SENT, 1)


def test_nobody_knows_whether_it_went_out_so_the_copy_counts() -> None:
    scenario = given(*KNOWN, copied(by=AGENT), minutes(11)).when(note("2", A))
    assert scenario.permit("$1").state is State.UNKNOWN
    assert used(scenario, B) == 1


def test_a_full_window_of_one_who_gets_a_copy_denies_the_mail_and_opens_no_breaker() -> None:
    scenario = given(*KNOWN, note("1", B), report(), note("2", B), report())
    scenario.when(copied("3")).then(status=429, code="cap_reached", events=[], alerts=[])
    assert scenario.body["detail"].startswith(f"the copy for customer {B}: ")
    assert scenario.body["available_at"] is not None
    scenario.when(note("3")).granted_now()


def test_two_copies_that_race_for_the_last_place_do_not_both_get_it() -> None:
    scenario = given(*KNOWN, note("1", B), report(), copied("2", A), copied("3", C))
    scenario.when(redeem("$2")).then(status=200)
    scenario.when(redeem("$3")).then(status=409, code="revoked")
    assert used(scenario, B) == 2
    assert scenario.permit("$3").state is State.REVOKED


def test_a_redeem_of_a_mail_whose_copies_count_already_does_not_count_them_twice() -> None:
    scenario = given(*KNOWN, note("1", B), report(), copied("2", A, by=AGENT))
    assert used(scenario, B) == 2
    scenario.when(redeem("$2", by=AGENT)).then(status=200, events=["Customer.MailRedeemed"])
    assert used(scenario, B) == 2


@pytest.mark.parametrize(
    ("fact", "code"),
    [
        (address_hold(BOB, "bounced"), "address_on_hold"),
        (address_hold(BOB, "unsubscribed"), "on_hold"),
        (customer_hold(B), "on_hold"),
    ],
    ids=["address", "unsubscribed", "customer"],
)
def test_a_hold_on_one_who_gets_a_copy_denies_the_mail(fact: Any, code: str) -> None:
    scenario = given(*KNOWN, fact)
    scenario.when(copied()).then(status=409, code=code, events=[])
    scenario.when(copied(cc=(EVE,))).granted_now()
    later = given(*KNOWN, copied(), minutes(1), fact)
    later.when(redeem()).then(status=409, code="revoked")
    assert (used(later, A), used(later, B)) == (0, 0)


def test_a_hold_for_another_kind_does_not_bind_a_copy() -> None:
    scenario = given(*KNOWN, customer_hold(B, kinds=("digest",)))
    scenario.when(copied()).granted_now()
    scenario.when(customer_hold(B, "dispute"), customer_unhold(B, "dispute"))
    scenario.when(redeem()).then(status=200)


def test_an_open_breaker_of_one_who_gets_a_copy_denies_the_mail() -> None:
    scenario = given(*KNOWN, note("1", B), report(), note("2", B), report(), note("3", B))
    scenario.when(days(2), copied("4")).then(status=409, code="breaker_open", events=[])


def test_a_bounce_of_a_copy_is_the_copys() -> None:
    scenario = given(*KNOWN, copied(), redeem(), report(id="m1"))
    bounce = Delivery("resend", "bounced", "m1", recipient=address(BOB))
    scenario.when(minutes(1), bounce)
    assert scenario.permit("$1").bounced is False
    scenario.when(note("2", A)).granted_now()
    scenario.when(note("2", B)).then(status=409, code="address_on_hold")
    scenario.when(copied("3", C)).then(status=409, code="address_on_hold")


def test_one_who_is_not_known_is_known_by_the_address_from_then_on() -> None:
    stranger = customer_known_by(address("kim@x.example"))
    scenario = given(*KNOWN).when(copied(cc=("kim@x.example",), by=AGENT)).granted_now()
    assert scenario.body["copies"] == [{"customer_id": stranger}]
    assert used(scenario, stranger) == 1
    scenario.when(customer("cus_kim", "kim@x.example"))
    assert used(scenario, "cus_kim") == 1


def test_a_copy_to_the_customer_s_own_other_address_counts_once_but_may_be_held() -> None:
    known = customer(A, "ann@x.example", "desk@x.example")
    own = ("desk@x.example", "ann@x.example", "desk@x.example")
    scenario = given(known).when(copied(cc=own, by=AGENT)).granted_now()
    assert scenario.body["copies"] == [{"customer_id": A}]
    assert used(scenario, A) == 1
    scenario.when(address_hold("desk@x.example"), copied("2", cc=own))
    scenario.then(status=409, code="address_on_hold")


def test_two_copies_to_one_customer_count_once() -> None:
    scenario = given(*KNOWN, customer(B, BOB, "bo@x.example"))
    scenario.when(copied(cc=(BOB, "bo@x.example", EVE), by=AGENT)).granted_now()
    assert scenario.body["copies"] == [{"customer_id": c} for c in (B, B, C)]
    assert (used(scenario, B), used(scenario, C)) == (1, 1)


def test_a_copy_whose_address_got_another_owner_is_not_sent() -> None:
    kim = ("kim@x.example",)
    stranger = customer_known_by(address(*kim))
    scenario = given(*KNOWN, copied("1", cc=kim, by=AGENT), customer("cus_kim", *kim), minutes(1))
    scenario.when(copied("2", cc=kim)).granted_now()
    assert scenario.body["copies"] == [{"customer_id": "cus_kim"}]
    scenario.when(minutes(1), unmerged(stranger, "cus_kim")).then(result="applied")
    scenario.when(redeem("$2")).then(status=409, code="revoked")


def test_a_copy_counts_for_whoever_its_address_is_of_at_the_redeem() -> None:
    scenario = given(*KNOWN, copied(), minutes(1), merged(B, C))
    scenario.when(redeem()).then(status=200)
    assert used(scenario, C) == 1
    other = given(*KNOWN, merged(B, C), minutes(1), copied(), minutes(1), unmerged(B, C))
    other.when(redeem()).then(status=200)
    assert (used(other, B), used(other, C)) == (1, 0)


def test_a_refused_mail_frees_the_place_where_its_recipient_went() -> None:
    scenario = given(*KNOWN, copied(by=AGENT), minutes(1), merged(B, C))
    assert used(scenario, C) == 1
    scenario.when(report("rejected", by=AGENT))
    assert used(scenario, C) == 0


def test_a_reply_s_copy_counts_as_a_reply() -> None:
    asked = message(customer=A, sender="ann@x.example", when="2026-01-01")
    scenario = given(*KNOWN, asked).when(reply(cc=(BOB,), by=AGENT)).granted_now()
    assert scenario.event("Customer.MailObserved").permit.lane == "reply"
    scenario.when(note("1", B)).granted_now()


def in_an_incident(*steps: Any) -> Scenario:
    """Five customers who may have an apology, beside those who are known anyway."""
    known = [customer(name, f"{name}@x.example") for name in SORRY]
    declared = DeclareIncident("F1", "flood", "bug", at("2025-12-31"), START, "ann", OPERATOR)
    paused = CallPause("all", "flood", "ann", OPERATOR)
    return given(*KNOWN, *known, declared, paused, *steps)


def test_copies_of_apologies_are_capped_and_their_recipient_s_own_apology_is_not() -> None:
    scenario = in_an_incident()
    for number, name in enumerate(SORRY):
        scenario.when(apology(name, cc=(BOB,), redeem=True))
        if number < 2:
            scenario.granted_now().when(report())
        else:
            scenario.then(status=429, code="cap_reached", events=[], alerts=[])
            assert scenario.body["detail"].startswith(f"the copy for customer {B}: ")
    scenario.when(apology(SORRY[2])).granted_now()
    scenario.when(apology(B, redeem=True)).granted_now()
    assert used(scenario, B) == 3


def test_an_apology_whose_copy_finds_a_full_window_at_the_redeem_is_revoked() -> None:
    scenario = in_an_incident(*(apology(name, cc=(BOB,)) for name in SORRY[:3]))
    scenario.when(redeem("$1"), redeem("$2")).then(status=200)
    scenario.when(redeem("$3")).then(status=409, code="revoked")
    assert used(scenario, B) == 2


def test_a_reminder_with_a_copy_takes_the_stage_once() -> None:
    scenario = given(at("2026-12-05T08:00:00Z"), *KNOWN, invoice(customer=A))
    scenario.when(reminder(cc=(BOB,))).granted_now()
    scenario.when(redeem(), report(), minutes(1))
    scenario.when(reminder(cc=(EVE,))).then(status=409, code="already_sent")
    assert (used(scenario, A), used(scenario, B), used(scenario, C)) == (1, 1, 0)


def test_the_same_key_with_other_copies_is_another_request() -> None:
    scenario = given(*KNOWN).when(copied(key="k1")).granted_now()
    scenario.when(copied(key="k1")).then(status=200)
    assert scenario.body["copies"] == [{"customer_id": B}]
    assert replace(scenario.permit("$1"), copies=()) != scenario.permit("$1")
