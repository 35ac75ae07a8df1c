"""Facts that ride along with the request of a key without the scope `facts` (ADR 0014)."""

from dataclasses import replace
from typing import Any

import pytest

from ledger.application.caller import Caller, Riding
from ledger.application.commands import ApplyFact, RequestPermit
from ledger.application.facts.fact import Fact, FactData
from ledger.application.facts.mail_reports import MailReport
from ledger.application.key_limits import KeyLimits
from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from tests.support.build import (
    POLLER,
    address,
    at,
    customer,
    days,
    hold,
    invoice,
    message,
    notification,
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

SENDER = Caller(POLLER.key_id, "agent", frozenset({"send"}))
"""A key of the scope `send` alone."""
NOW = at("2026-12-10")
PAT = "pat@example.com"
EVIL = "evil@attacker.example"


def known() -> Scenario:
    """An open invoice of cus_1, nine days past due, with an address; and another customer."""
    others = (customer("cus_2", "kim@example.com"),)
    return given(at("2026-12-01"), invoice(email=PAT), *others, NOW)


def riding(*facts: FactData, by: Caller = SENDER, **how: Any) -> RequestPermit:
    """A request for a reminder of inv_1 with facts along."""
    return reminder(by=by, facts=facts, **how)


HARMFUL: dict[str, tuple[FactData, str]] = {
    "less": (invoice(owes=100), "that less is owed on invoice inv_1"),
    "paid": (invoice(owes=0, status=Status.PAID), "that less is owed on invoice inv_1"),
    "void": (invoice(status=Status.VOID), "that less is owed on invoice inv_1"),
    "written off": (invoice(status=Status.UNCOLLECTIBLE), "that less is owed on invoice inv_1"),
    "a draft": (invoice(status=Status.DRAFT), "that invoice inv_1 is draft"),
    "currency": (invoice(currency="JPY"), "that invoice inv_1 is in another currency"),
    "owner": (invoice(customer="cus_2"), "that invoice inv_1 is another customer's"),
    "new owner": (invoice(customer="cus_9"), "that invoice inv_1 is another customer's"),
    "address": (invoice(email=EVIL), "of another address on invoice inv_1"),
    "taken address": (invoice(email="kim@example.com"), "of another address on invoice inv_1"),
    "no address": (invoice(email=None), "of another address on invoice inv_1"),
    "the future": (
        invoice(seen="2030-01-01"),
        "of invoice inv_1 as of a time to come",
    ),
}


@pytest.mark.parametrize("how", HARMFUL)
def test_nothing_is_granted_on_a_fact_that_harms_and_it_leaves_no_trace(how: str) -> None:
    harmful, _ = HARMFUL[how]
    scenario = known()
    before = scenario.store.replay()
    scenario.when(riding(harmful))
    assert scenario.answer.status in (403, 409), scenario.body
    assert scenario.events == []
    assert _state(scenario) == _state(known())
    assert set(scenario.store.replay()) == set(before)
    assert scenario.store.contacts == known().store.contacts
    scenario.when(reminder(by=SENDER)).granted_now()
    assert (scenario.body["to"], scenario.body["items"][0]["amount_remaining"]) == (PAT, 30000)


@pytest.mark.parametrize("how", ["less", "owner", "new owner", "address", "taken address"])
def test_where_it_would_be_granted_the_answer_says_what_may_not_be_told(how: str) -> None:
    harmful, why = HARMFUL[how]
    scenario = known().when(riding(harmful)).then(status=403, code="riding_facts_refused")
    assert scenario.body["detail"] == (
        f"this key may not tell the ledger {why}: it needs the scope facts, or leave them out"
    )
    assert scenario.body["retryable"] is False
    (row,) = scenario.store.decisions[-1:]
    assert (row.status, row.code, row.sender) == (403, "riding_facts_refused", "agent")
    assert row.invoice_id == "inv_1"


@pytest.mark.parametrize(
    ("how", "code"),
    [("paid", "nothing_owed"), ("void", "voided"), ("written off", "nothing_owed")],
)
def test_a_denial_is_the_documented_one_and_says_that_nothing_was_kept(how: str, code: str) -> None:
    scenario = known().when(riding(HARMFUL[how][0])).then(status=409, code=code, events=[])
    assert ("Ledger-Warning", "riding-facts-not-kept") in scenario.answer.headers


def test_a_key_with_the_scope_facts_is_believed_whatever_it_says() -> None:
    scenario = known().when(riding(HARMFUL["paid"][0], by=POLLER)).then(code="nothing_owed")
    assert "Invoice.Observed" in scenario.events
    assert scenario.answer.headers == ()
    scenario = known().when(riding(invoice(email=EVIL), by=POLLER)).granted_now()
    assert scenario.body["to"] == EVIL


HARMLESS: dict[str, FactData] = {
    "the same": invoice(email=PAT),
    "left out": invoice(),
    "more": invoice(owes=45000, total=45000),
    "an older one": invoice(owes=100, seen="2026-11-01"),
    "another due date": invoice(due="2026-12-02"),
}


@pytest.mark.parametrize("how", HARMLESS)
def test_what_harms_nobody_is_granted_on_and_kept(how: str) -> None:
    scenario = known().when(riding(HARMLESS[how])).granted_now()
    if how == "more":
        assert scenario.aggregate("invoice", "inv_1").standing.balance == 45000
        assert scenario.body["items"][0]["amount_remaining"] == 45000
    scenario.when(redeem(by=SENDER)).then(status=200)


def test_one_call_is_the_whole_integration_of_a_poller() -> None:
    snapshot = invoice(email=PAT)
    scenario = given(NOW, riding(snapshot, redeem=True)).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == ("cus_1", PAT)
    assert scenario.body["state"] == "redeemed"
    scenario.when(report(by=SENDER), riding(snapshot)).then(status=409, code="already_sent")
    assert scenario.aggregate("customer", "cus_1").addresses == (address(PAT).fingerprint,)


def test_what_rides_with_a_denial_is_forgotten() -> None:
    scenario = given(at("2026-11-01"), riding(invoice(email=PAT)))
    scenario.then(status=409, code="not_past_due", events=[])
    assert scenario.store.contacts == {}
    assert scenario.store.owners == set()
    scenario.when(reminder(by=SENDER)).then(status=404, code="unknown_invoice")
    scenario.when(NOW, riding(invoice(email=PAT))).granted_now()


def test_a_new_invoice_gives_a_known_customer_no_other_address() -> None:
    new = invoice("inv_2", email=EVIL)
    asked = reminder("inv_2", by=SENDER, facts=(new,))
    known().when(asked).then(status=403, code="riding_facts_refused", events=[])
    same = reminder("inv_2", by=SENDER, facts=(invoice("inv_2", email=PAT),))
    assert known().when(same).granted_now().body["to"] == PAT
    silent = given(at("2026-12-01"), invoice(), NOW)
    silent.when(asked).then(status=403, code="riding_facts_refused", events=[])


def test_a_new_invoice_makes_nobody_of_a_known_address_its_owner() -> None:
    """cus_9 is new, the address is that of somebody who is known by it alone."""
    scenario = given(NOW, notification(customer=None, to=PAT))
    mine = reminder("inv_9", by=SENDER, facts=(invoice("inv_9", "cus_9", email=PAT),))
    scenario.when(mine).then(status=403, code="riding_facts_refused", events=[])


def test_a_version_of_its_own_outdates_no_true_news() -> None:
    scenario = known().when(riding(invoice(version=10**9))).granted_now()
    scenario.when(invoice(owes=0, status=Status.PAID, version=7))
    assert scenario.aggregate("invoice", "inv_1").standing.balance == 0


def test_payments_on_their_way_stay_on_their_way() -> None:
    scenario = known()
    told = replace(invoice(), nothing_in_flight=True)
    flying = ApplyFact(Fact(paid(30000, state="pending")), POLLER)
    scenario.when(flying, riding(told)).then(status=409, code="payment_in_flight")


def test_only_the_invoices_of_the_request_may_be_told_of() -> None:
    """HTTP refuses it before; this is what holds if it ever did not."""
    scenario = known().when(riding(invoice("inv_7", "cus_7")))
    scenario.then(status=403, code="riding_facts_refused", events=[])
    failed = replace(payment_failed(by=SENDER), facts=(Fact(invoice("inv_7")),))
    scenario.when(failed).then(status=403, code="riding_facts_refused", events=[])


def test_a_message_that_rides_along_is_replied_to() -> None:
    asked = reply(by=SENDER, facts=(message(sender=PAT),))
    scenario = given(NOW, asked).granted_now()
    assert (scenario.body["customer_id"], scenario.body["to"]) == ("cus_1", PAT)
    assert scenario.aggregate("customer", "cus_1").addresses == (address(PAT).fingerprint,)


def test_a_message_gives_a_known_customer_no_address() -> None:
    scenario = known().when(reply(by=SENDER, facts=(message(sender=EVIL),))).granted_now()
    assert scenario.body["to"] == EVIL, "it goes to whoever wrote"
    assert scenario.aggregate("customer", "cus_1").addresses == (address(PAT).fingerprint,)
    nameless = given(NOW, invoice(), reply(by=SENDER, facts=(message(sender=EVIL),))).granted_now()
    assert nameless.aggregate("customer", "cus_1").addresses == ()


MESSAGES: dict[str, FactData] = {
    "another thread's owner": message("<m2@x>", customer="cus_2", sender=PAT),
    "another message": message("<other@x>", sender=PAT),
    "another thread": message("<m2@x>", "thr_2", sender=PAT),
}


@pytest.mark.parametrize("how", MESSAGES)
def test_a_message_that_changes_more_than_itself_is_refused(how: str) -> None:
    scenario = known().when(message(sender=PAT), message("<m2@x>", sender=PAT))
    asked = reply("<m2@x>", by=SENDER, facts=(MESSAGES[how],))
    fresh = known().when(message(sender=PAT))
    if how == "another message":
        scenario.when(asked).then(status=403, code="riding_facts_refused", events=[])
        return
    fresh.when(asked).then(status=403, code="riding_facts_refused", events=[])
    assert fresh.aggregate("thread", "thr_1").customer_id == "cus_1"


def test_a_report_of_a_mail_system_holds_no_address() -> None:
    scenario = known().when(notification())
    bounce = message(
        automatic="a report", report=MailReport("delivery-status", "failed"), references=("<x>",)
    )
    scenario.when(reply(by=SENDER, facts=(bounce,)))
    scenario.then(status=409, code="auto_generated", events=[])


def test_a_mail_of_ours_that_rides_along_answers_nothing() -> None:
    scenario = known().when(message(sender=PAT), reply(by=POLLER))
    ours = message("<out@x>", direction="outbound", references=("<m1@example.com>",))
    scenario.when(reply("<out@x>", by=SENDER, facts=(ours,)))
    scenario.then(status=409, code="outbound_message", events=[])
    scenario.when(redeem()).then(status=200)


def test_a_breaker_opens_although_the_facts_are_forgotten() -> None:
    policy = Policy(outreach_per_day=1)
    scenario = given(at("2026-12-01"), invoice(email=PAT), NOW, notification(), policy=policy)
    scenario.when(riding(invoice(owes=45000, total=45000)))
    scenario.then(status=429, code="cap_reached", alerts=["breaker_opened"])
    assert scenario.events == ["Customer.BreakerOpened"]
    assert scenario.aggregate("invoice", "inv_1").standing.balance == 30000


def test_a_loop_guard_trips_although_the_message_is_forgotten() -> None:
    scenario = given(NOW, policy=Policy(replies_per_thread_hour=1))
    first = reply("<a@x>", by=SENDER, facts=(message("<a@x>", sender=PAT),))
    second = reply("<b@x>", by=SENDER, facts=(message("<b@x>", sender=PAT),))
    scenario.when(first, second).then(status=429, code="loop_guard", alerts=["loop_guard"])
    assert scenario.events[-1] == "Thread.LoopGuardTripped"
    scenario.when(second).then(status=429, code="loop_guard", events=[], alerts=[])


def test_a_key_that_may_let_nothing_ride_along() -> None:
    mute = replace(SENDER, rides=Riding.NONE)
    scenario = known().when(riding(invoice(), by=mute))
    scenario.then(status=403, code="riding_facts_refused", events=[])
    assert scenario.body["detail"] == "this key may let no facts ride along"
    scenario.when(reminder(by=mute)).granted_now()


@pytest.mark.parametrize(
    ("scopes", "choice", "riding_"),
    [
        ({"send"}, None, Riding.OWN),
        ({"send"}, Riding.ALL, Riding.OWN),
        ({"send"}, Riding.NONE, Riding.NONE),
        ({"send", "operate"}, None, Riding.OWN),
        ({"send", "facts"}, None, Riding.ALL),
        ({"send", "facts"}, Riding.OWN, Riding.OWN),
        ({"send", "facts"}, Riding.NONE, Riding.NONE),
    ],
)
def test_what_a_key_is_believed(scopes: set[str], choice: Riding | None, riding_: Riding) -> None:
    assert Caller("k", "n", frozenset(scopes), rides=choice).riding is riding_


def test_the_commands_of_the_same_transaction_see_what_is_on_record() -> None:
    """What was taken back is in no cache, no name and no look-up of the commands after it."""
    scenario = known()
    good = riding(invoice(email=PAT))
    denied = reminder("inv_5", by=SENDER, facts=(invoice("inv_5", "cus_5", due="2026-12-30"),))
    answers = scenario.submit(
        riding(invoice(email=EVIL)),
        denied,
        reminder("inv_5", by=SENDER),
        ApplyFact(Fact(customer("cus_6", EVIL)), POLLER),
        good,
    )
    assert [a.status for a in answers] == [403, 409, 404, 200, 201]
    assert scenario.body["to"] == PAT
    replayed = scenario.aggregate("customer", "cus_6")
    assert replayed.addresses == (address(EVIL).fingerprint,)


@pytest.mark.parametrize("code", ["already_sent", "permit_held", "on_hold"])
def test_a_limited_key_learns_nothing_of_another_by_saying_that_it_is_its_own(code: str) -> None:
    """Nor does it find the balance out, by what would lower it."""
    own = replace(SENDER, limits=KeyLimits.of(customers=["cus_2"]))
    scenario = known().when(reminder())
    if code == "already_sent":
        scenario.when(report())
    if code == "on_hold":
        scenario.when(report(outcome="rejected"), hold())
    scenario.when(reminder()).then(status=409, code=code)
    for told in (invoice(customer="cus_2"), invoice(), invoice(owes=100), invoice(owes=45000)):
        scenario.when(riding(told, by=own)).then(status=403, code="key_limit", events=[])
        assert scenario.body["detail"] == "this key may not ask for mail to that customer"


def test_a_limited_key_takes_no_thread_over_to_look_into_it() -> None:
    own = replace(SENDER, limits=KeyLimits.of(customers=["cus_2"]))
    scenario = known().when(message(sender=PAT))
    for told in (message("<m2@x>", customer="cus_2"), message("<m2@x>", automatic="a machine")):
        asked = reply("<m2@x>", by=own, facts=(told,))
        scenario.when(asked)
        assert scenario.answer.status == 403, scenario.body
        assert scenario.events == []


def test_a_replayed_grant_hears_of_no_new_facts() -> None:
    keyed = replace(SENDER, redeem_required=True)
    snapshot = invoice(email=PAT)
    scenario = known().when(riding(snapshot, by=keyed, key="k")).granted_now()
    scenario.when(riding(invoice(owes=1), by=keyed, key="k")).then(status=200, events=[])
    scenario.when(days(1))
    assert scenario.aggregate("invoice", "inv_1").standing.balance == 30000


def _state(scenario: Scenario) -> dict[str, Any]:
    """What is on record of the people and the invoice, but for its breaker and permits."""
    one, two = (scenario.aggregate("customer", c) for c in ("cus_1", "cus_2"))
    inv = scenario.aggregate("invoice", "inv_1")
    return {
        "addresses": (one.addresses, two.addresses),
        "merged": (one.merged_into, one.absorbed, two.merged_into, two.absorbed),
        "invoice": (inv.customer_id, inv.standing, inv.snapshot.address, inv.snapshot.currency),
    }


def test_another_customer_s_address_is_no_made_up_customer_s() -> None:
    bill = invoice("inv_9", customer="fl_1", email="kim@example.com")
    asked = reminder("inv_9", by=SENDER, facts=(bill,))
    known().when(asked).then(status=403, code="riding_facts_refused", events=[])
    own = invoice("inv_9", customer="fl_1", email="new@example.com")
    known().when(reminder("inv_9", by=SENDER, facts=(own,))).granted_now()
