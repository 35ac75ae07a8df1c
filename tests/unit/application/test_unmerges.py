"""Two who had been made one are two after all: each has what was theirs, and no mail again (D9)."""

from typing import Any

import pytest

from ledger.application.commands import CallPause, DeclareIncident
from ledger.application.facts.subscription_ended import SubscriptionTold
from ledger.domain.permit import State
from tests.support.build import (
    AGENT,
    OPERATOR,
    address,
    apology,
    at,
    customer,
    customer_hold,
    customer_unhold,
    days,
    delivery,
    digest,
    fact,
    hours,
    intent,
    invoice,
    merged,
    message,
    minutes,
    notification,
    observed_send,
    redeem,
    reminder,
    report,
    unmerged,
)
from tests.support.given import Scenario, given

A, B, C = "cus_a", "cus_b", "cus_c"
INCIDENT = DeclareIncident(
    "F1", "flood", "a loop", at("2025-12-30"), at("2025-12-31"), "ann", OPERATOR
)
PAUSE = CallPause("all", "flood", "ann", OPERATOR)


def note(event: str, to: str = A, **how: Any) -> Any:
    return notification(event, customer=to, **how)


def sent(event: str, to: str = A) -> list[Any]:
    return [note(event, to), report()]


def counted(scenario: Scenario, customer_id: str) -> int:
    """How many mails the customer has in memory that count."""
    permits = scenario.aggregate("customer", customer_id).permits.values()
    return sum(permit.counts_at is not None for permit in permits)


def test_each_goes_on_alone() -> None:
    scenario = given(customer(A, "a@x.example"), customer(B, "b@x.example"), merged(A, B))
    scenario.when(unmerged(A, B)).then(
        result="applied", events=["Customer.Unmerged", "Customer.LetGo"]
    )
    scenario.when(minutes(1))
    one, other = scenario.aggregate("customer", A), scenario.aggregate("customer", B)
    assert (one.merged_into, one.absorbed, other.absorbed) == (None, set(), set())
    assert one.addresses == (address("a@x.example").fingerprint,)
    assert other.addresses == (address("b@x.example").fingerprint,)
    scenario.when(note("1")).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == (A, "a@x.example")
    scenario.when(note("1", B)).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == (B, "b@x.example")


def test_windows_of_before_the_merge_are_each_ones_own() -> None:
    scenario = given(*sent("1", A), *sent("2", B), minutes(1), merged(A, B), unmerged(A, B))
    assert (counted(scenario, A), counted(scenario, B)) == (1, 1)
    assert scenario.aggregate("customer", A).permits.keys() == {scenario.granted[0]}
    for name in (A, B):
        scenario.when(minutes(1), note(f"3-{name}", name)).granted_now()
        assert scenario.body["windows"] == {"outreach_24h": {"used": 2, "limit": 2}}


def test_a_mail_to_the_two_as_one_counts_for_both() -> None:
    scenario = given(merged(A, B), *sent("1", A), hours(1))
    scenario.when(unmerged(A, B)).then(
        events=["Customer.Unmerged", "Customer.MailObserved", "Customer.LetGo"]
    )
    copy = scenario.event("Customer.MailObserved").permit
    original = scenario.permit("$1")
    assert (copy.kind, copy.customer_id, copy.state) == ("observed", A, State.SENT)
    assert (copy.lane, copy.counts_at) == (original.lane, original.counts_at)
    for name in (A, B):
        scenario.when(minutes(1), note("2", name)).granted_now()
        scenario.when(note("3", name)).then(status=429, code="cap_reached")


def test_a_mail_of_before_the_merge_that_is_settled_since_comes_back_as_it_is_now() -> None:
    scenario = given(note("1", A), merged(A, B), report(), unmerged(A, B))
    assert scenario.aggregate("customer", A).permits["00000000-0000-0000-0000-000000000001"] == (
        scenario.permit("$1")
    )
    assert counted(scenario, B) == 0


@pytest.mark.parametrize("ask", [notification, digest])
@pytest.mark.parametrize("to", [A, B])
def test_what_either_was_sent_is_sendable_to_neither(ask: Any, to: str) -> None:
    before = given(ask(customer=to), report(), merged(A, B), unmerged(A, B), days(2))
    during = given(merged(A, B), ask(customer=to), report(), unmerged(A, B), days(2))
    for scenario in (before, during):
        for name in (A, B):
            scenario.when(ask(customer=name)).then(status=409, code="already_sent")
            assert scenario.body["permit_id"] == scenario.granted[0]


def test_what_is_sent_after_the_parting_concerns_one_alone() -> None:
    scenario = given(merged(A, B), unmerged(A, B), minutes(1), *sent("1", A))
    scenario.when(note("1", B)).granted_now()


def test_a_mail_that_never_went_out_may_be_asked_for_by_either() -> None:
    scenario = given(merged(A, B), note("1"), report("rejected"), unmerged(A, B), minutes(1))
    scenario.when(note("1", A)).granted_now()
    scenario.when(note("1", B)).granted_now()


def test_what_was_granted_to_the_two_as_one_and_is_not_out_is_revoked() -> None:
    scenario = given(merged(A, B), note("1"), unmerged(A, B))
    scenario.when(note("1", A)).then(status=409, code="permit_held")
    scenario.when(redeem("$1")).then(status=409, code="revoked")
    assert (counted(scenario, A), counted(scenario, B)) == (0, 0)
    scenario.when(minutes(1), note("1", A)).granted_now()


def test_what_may_be_out_counts_for_both_and_lapses_for_both() -> None:
    scenario = given(merged(A, B), note("1", by=AGENT), unmerged(A, B))
    assert (counted(scenario, A), counted(scenario, B)) == (1, 1)
    for name in (A, B):
        scenario.when(note("1", name)).then(status=409, code="permit_held")
    scenario.when(minutes(11), note("1", A)).then(status=409, code="outcome_unknown")
    scenario.when(note("1", B)).then(status=409, code="outcome_unknown")
    assert scenario.permit("$1").state is State.UNKNOWN


def test_holds_and_held_addresses_stay_with_both() -> None:
    scenario = given(customer_hold(A, "dispute"), merged(A, B), customer_hold(B, "bankrupt"))
    scenario.when(unmerged(A, B), minutes(1))
    for name in (A, B):
        scenario.when(note("1", name)).then(status=409, code="on_hold")
        scenario.when(customer_unhold(name, "dispute"), customer_unhold(name, "bankrupt"))
        scenario.when(note("1", name)).granted_now()
    bounced = given(
        customer(A, "a@x.example"),
        merged(A, B),
        note("1"),
        report(id="m"),
        delivery("bounced", "m"),
    ).when(unmerged(A, B))
    bounced.when(note("2", A)).then(status=409, code="address_on_hold")


def test_an_open_breaker_stays_open_on_both_until_each_is_reset() -> None:
    for first in (A, B):
        scenario = given(*(note(f"{n}", first) for n in range(3)), merged(A, B), unmerged(A, B))
        for name in (A, B):
            scenario.when(note("9", name)).then(status=409, code="breaker_open")


def test_an_apology_to_the_two_as_one_was_one_to_both() -> None:
    scenario = given(customer(A), customer(B), INCIDENT, PAUSE, merged(A, B))
    scenario.when(apology(customer=A), report(), unmerged(A, B))
    for name in (A, B):
        scenario.when(apology(customer=name)).then(status=409, code="apology_already_sent")
    scenario.when(days(40), apology(customer=A)).then(status=409, code="apology_already_sent")


def test_invoices_and_threads_follow_the_customer_whose_they_are() -> None:
    scenario = given(
        at("2026-12-01"),
        invoice("inv_a", A),
        invoice("inv_b", B),
        message(customer=A, sender="a@x.example"),
        merged(A, B),
        unmerged(A, B),
        at("2026-12-04T08:00Z"),
    )
    for name, invoice_id in ((A, "inv_a"), (B, "inv_b")):
        scenario.when(reminder(invoice_id)).granted_now()
        assert scenario.body["customer_id"] == name
    scenario.when(intent()).granted_now()
    assert scenario.body["customer_id"] == A


def test_a_reminder_of_both_is_of_two_customers_again() -> None:
    scenario = given(at("2026-12-01"), invoice("inv_a", A), invoice("inv_b", B), merged(A, B))
    scenario.when(at("2026-12-04T08:00Z"), reminder("inv_a", "inv_b")).granted_now()
    scenario.when(unmerged(A, B), redeem()).then(status=409, code="revoked")
    scenario.when(reminder("inv_a", "inv_b")).then(status=422, code="invalid_request")


def test_a_chain_is_cut_where_the_customer_went_in() -> None:
    scenario = given(*sent("a", A), *sent("b", B), minutes(1), merged(A, B))
    scenario.when(merged(B, C), unmerged(B, C))
    one = scenario.aggregate("customer", B)
    assert (one.absorbed, scenario.aggregate("customer", C).absorbed) == ({A}, set())
    assert (counted(scenario, B), counted(scenario, C)) == (2, 0)
    scenario.when(unmerged(A, B))
    assert (counted(scenario, A), counted(scenario, B)) == (1, 1)


def test_the_first_of_a_chain_leaves_all_that_it_went_through() -> None:
    scenario = given(*sent("a", A), merged(A, B), merged(B, C))
    scenario.when(unmerged(A, C)).then(
        events=["Customer.Unmerged", "Customer.LetGo", "Customer.LetGo"]
    )
    found = {name: scenario.aggregate("customer", name).absorbed for name in (A, B, C)}
    assert found == {A: set(), B: set(), C: {B}}
    scenario.when(unmerged(B, C))
    found = {name: scenario.aggregate("customer", name).absorbed for name in (A, B, C)}
    assert found == {A: set(), B: set(), C: set()}
    for name in (B, C):
        scenario.when(note("a", name)).then(status=409, code="already_sent")


def test_they_may_be_merged_again_either_way() -> None:
    scenario = given(merged(A, B), unmerged(A, B), minutes(1), *sent("1", A))
    scenario.when(merged(B, A)).then(result="applied")
    assert scenario.aggregate("customer", A).absorbed == {B}
    assert scenario.aggregate("customer", A).formerly == {}
    scenario.when(note("1", B)).then(status=409, code="already_sent")
    scenario.when(unmerged(B, A), merged(A, B)).then(result="applied")
    scenario.when(note("1", B)).then(status=409, code="already_sent")


def test_what_went_to_a_former_self_is_known_to_whoever_takes_the_customer_over() -> None:
    scenario = given(*sent("1", B), merged(A, B), unmerged(A, B), minutes(1), merged(A, C))
    scenario.when(note("1", C)).then(status=409, code="already_sent")


def test_what_is_not_merged_is_not_parted() -> None:
    given(unmerged(A, B)).then(result="ignored", events=[])
    scenario = given(customer(A), customer(B))
    scenario.when(unmerged(A, B)).then(result="ignored", events=[])
    scenario.when(merged(A, B), unmerged(A, C)).then(result="ignored")
    scenario.when(unmerged(B, A)).then(result="ignored")
    scenario.when(unmerged(A, A)).then(result="ignored")
    assert scenario.aggregate("customer", A).merged_into == B
    scenario.when(unmerged(A, B), unmerged(A, B)).then(result="ignored")


@pytest.mark.parametrize("merge_first", [True, False])
def test_an_older_merge_told_late_or_twice_changes_nothing(merge_first: bool) -> None:
    news = [fact(merged(A, B), "2026-01-01T10:00Z"), fact(unmerged(A, B), "2026-01-01T11:00Z")]
    scenario = given(at("2026-01-01T12:00Z"), *(news if merge_first else reversed(news)))
    scenario.when(fact(merged(A, B), "2026-01-01T10:30Z")).then(result="stale", events=[])
    scenario.when(fact(merged(A, B), "2026-01-01T11:30Z")).then(result="applied")
    assert scenario.aggregate("customer", A).merged_into == B


def test_whoever_is_known_by_an_address_has_it_again() -> None:
    known = f"adr_{address('pat@x.example').fingerprint}"
    scenario = given(
        notification("1", customer=None, to="pat@x.example"),
        report(),
        customer(B, "pat@x.example"),
        unmerged(known, B),
        minutes(1),
    )
    assert scenario.aggregate("customer", B).addresses == ()
    scenario.when(notification("2", customer=None, to="pat@x.example")).granted_now()
    assert scenario.body["customer_id"] == known


def told(subscription: str, to: str, ended: bool, when: str) -> Any:
    return fact(SubscriptionTold(subscription, to, ended), when)


def test_each_has_their_own_subscriptions_again_with_the_latest_word() -> None:
    alive = (told("sub_a", A, False, "2025-12-01"), told("sub_b", B, True, "2025-12-02"))
    known = (told("sub_a", A, True, "2025-11-01"), *alive)
    scenario = given(*known, merged(A, B), told("sub_a", A, True, "2026-01-01"), unmerged(A, B))
    one = scenario.aggregate("customer", A).subscriptions
    other = scenario.aggregate("customer", B).subscriptions
    assert {name: word.ended for name, word in one.known.items()} == {"sub_a": True}
    assert {name: word.ended for name, word in other.known.items()} == {"sub_b": True}


def test_an_end_that_was_told_while_they_were_one_binds_both() -> None:
    scenario = given(merged(A, B), hours(1))
    scenario.when(
        told("sub_1", B, True, "2026-01-01T00:30:00Z"),
        told("sub_2", B, False, "2026-01-01T00:30:00Z"),
        unmerged(A, B),
    )
    one = scenario.aggregate("customer", A).subscriptions
    other = scenario.aggregate("customer", B).subscriptions
    assert set(one.known) == {"sub_1"}
    assert "sub_1" in other.known


def test_a_mail_past_the_ledger_that_was_told_while_they_were_one_counts_for_both() -> None:
    """Its time is when it was sent, also where that was before the merge: it may be either's."""
    scenario = given(hours(2), merged(A, B), observed_send("2026-01-01T01:00:00Z", B))
    scenario.when(unmerged(A, B)).then(result="applied")
    assert (counted(scenario, A), counted(scenario, B)) == (1, 1)
