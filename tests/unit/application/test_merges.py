"""Who is who: addresses, merges that carry everything over, and owners that change (D9)."""

from typing import Any

import pytest

from ledger.application.commands import ApplyFact, CallPause, DeclareIncident, Erase, ReleaseAddress
from ledger.application.facts.fact import Fact
from tests.support.build import (
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
    paid,
    payment_failed,
    redeem,
    reminder,
    reply,
    report,
)
from tests.support.given import Scenario, given

MÜLLER = "billing@müller.example"


def known_by(text: str) -> str:
    """The id of somebody known by this address alone."""
    return f"adr_{address(text).fingerprint}"


def mail_to(text: str, event_id: str, **how: Any) -> Any:
    return notification(event_id, customer=None, to=text, **how)


@pytest.mark.parametrize(
    "spelling",
    ["Billing@MÜLLER.example", "billing@mu\u0308ller.example", "billing@xn--mller-kva.example"],
)
def test_spellings_of_one_address_share_a_window(spelling: str) -> None:
    scenario = given(mail_to(MÜLLER, "1"), report(), minutes(10), mail_to(MÜLLER, "2"), report())
    scenario.when(minutes(10), mail_to(spelling, "3")).then(
        status=429, code="cap_reached", events=["Customer.BreakerOpened"], alerts=["breaker_opened"]
    )
    scenario.when(mail_to(MÜLLER, "4")).then(status=409, code="breaker_open", alerts=[])


def test_a_mail_is_sent_to_the_address_as_given() -> None:
    scenario = given(mail_to("Pat@X.example", "1"))
    assert scenario.body["to"] == "Pat@X.example"
    assert scenario.body["customer_id"] == known_by("pat@x.example")
    assert b"pat" not in b"".join(row.state for row in scenario.store.rows).lower()
    assert b"pat" not in b"".join(row.answer for row in scenario.store.decisions).lower()


def test_tags_and_dots_are_other_customers() -> None:
    scenario = given(
        customer("29a", "ops@mail.example"),
        notification("1", customer="29a"),
        notification("2", customer="29a"),
        invoice("b", customer="29b", email="ops+invoices@mail.example"),
        invoice("b2", customer="29b2", email="o.ps@mail.example"),
        at("2026-12-04"),
    )
    scenario.when(reminder("b")).granted_now()
    scenario.when(reminder("b2")).granted_now()


def test_somebody_known_by_address_becomes_the_billing_customer_who_claims_it() -> None:
    scenario = given(mail_to("pat@x.example", "1"), report(), mail_to("pat@x.example", "2"))
    scenario.when(customer("cus_1", "pat@x.example")).then(
        result="applied",
        events=[
            "Customer.Created",
            "Customer.MergedInto",
            "Customer.Absorbed",
            "Customer.AddressesObserved",
        ],
    )
    scenario.when(notification("3")).then(status=429, code="cap_reached")
    scenario.when(mail_to("pat@x.example", "4")).then(status=409, code="breaker_open")
    assert scenario.store.decisions[-1].customer_id == "cus_1"


@pytest.mark.parametrize("ask", [notification, digest])
def test_what_was_sent_under_the_old_id_is_a_duplicate_under_the_new_one(ask: Any) -> None:
    for first, then in (("cus_a", "cus_b"), ("cus_a", "cus_a")):
        scenario = given(ask(customer=first), report(), merged("cus_a", "cus_b"), days(1))
        scenario.when(ask(customer=then)).then(status=409, code="already_sent")
        assert scenario.body["permit_id"] == scenario.granted[0]


def test_what_was_sent_to_an_address_is_a_duplicate_for_the_customer_it_became() -> None:
    scenario = given(
        mail_to("pat@x.example", "ord_9"), report(), customer("cus_1", "pat@x.example")
    )
    scenario.when(notification("ord_9")).then(status=409, code="already_sent")


def test_a_live_permit_of_the_old_id_holds_the_key_under_the_new_one() -> None:
    scenario = given(notification(customer="cus_a"), merged("cus_a", "cus_b"))
    scenario.when(notification(customer="cus_b")).then(status=409, code="permit_held")
    scenario.when(redeem()).then(status=200)
    scenario.when(report("rejected"), notification(customer="cus_b")).granted_now()
    scenario.when(report("unknown"), merged("cus_b", "cus_c"))
    for name in ("cus_a", "cus_b", "cus_c"):
        scenario.when(notification(customer=name)).then(status=409, code="outcome_unknown")


def test_windows_carry_over() -> None:
    scenario = given(
        notification("1", customer="cus_a"),
        notification("2", customer="cus_b"),
        merged("cus_a", "cus_b"),
    )
    scenario.when(notification("3", customer="cus_a")).then(status=429, code="cap_reached")


def test_holds_carry_over_and_may_be_lifted_by_either_id() -> None:
    for name in ("cus_a", "cus_b"):
        scenario = given(customer_hold("cus_a"), merged("cus_a", "cus_b"))
        scenario.when(notification(customer="cus_b")).then(status=409, code="on_hold")
        scenario.when(customer_unhold(name), notification(customer="cus_b")).granted_now()


def test_a_hold_that_comes_with_a_merge_revokes_what_is_live() -> None:
    for gone, into in (("held", "cus_1"), ("cus_1", "held")):
        scenario = given(customer_hold("held"), notification(), merged(gone, into))
        scenario.when(redeem()).then(status=409, code="revoked")


def test_open_breakers_carry_over_and_the_wider_one_stands() -> None:
    def full(name: str) -> list[Any]:
        return [notification(f"{name}{n}", customer=name) for n in range(3)]

    scenario = given(*full("cus_a"), merged("cus_a", "cus_b"))
    scenario.when(notification("x", customer="cus_b")).then(status=409, code="breaker_open")
    scenario = given(*full("cus_b"), merged("cus_a", "cus_b"))
    scenario.when(notification("x", customer="cus_a")).then(status=409, code="breaker_open")


def test_held_addresses_and_apologies_carry_over() -> None:
    incident = DeclareIncident("F1", "?", "?", at("2026-01-01"), at("2026-01-02"), "ann", OPERATOR)
    pause = CallPause("all", "flood", "ann", OPERATOR)
    scenario = given(incident, pause, customer("cus_a"), apology("cus_a"), report())
    scenario.when(merged("cus_a", "cus_b"), apology("cus_b")).then(
        status=409, code="apology_already_sent"
    )
    scenario.when(days(31), apology("cus_b")).then(status=409, code="apology_already_sent")
    bounced = given(customer("cus_a", "pat@x.example"), notification(customer="cus_a"), report())
    bounced.when(fact(delivery("bounced", permit=bounced.granted[0])), merged("cus_a", "cus_b"))
    bounced.when(notification("2", customer="cus_b")).then(status=409, code="address_on_hold")


def test_the_statement_covers_all_that_was_merged() -> None:
    incident = DeclareIncident("F1", "?", "?", at("2026-01-01"), at("2026-01-02"), "ann", OPERATOR)
    scenario = given(
        invoice("a", customer="cus_a", owes=100),
        invoice("b", customer="cus_b", owes=20, currency="EUR"),
        invoice("c", customer="cus_c", owes=3),
        invoice("d", customer="cus_c", owes=7),
        paid(7, "d"),
        merged("cus_a", "cus_b"),
        merged("cus_b", "cus_c"),
        incident,
        CallPause("all", "flood", "ann", OPERATOR),
        apology("cus_a"),
    )
    assert scenario.event("Incident.ApologyPermitted").statement.owed == {"USD": 103, "EUR": 20}
    lines = [line["invoice_id"] for line in scenario.body["statement"]["open_invoices"]]
    assert sorted(lines) == ["a", "b", "c"]


def test_the_statement_sees_an_invoice_of_the_same_transaction() -> None:
    incident = DeclareIncident("F1", "?", "?", at("2026-01-01"), at("2026-01-02"), "ann", OPERATOR)
    pause = CallPause("all", "flood", "ann", OPERATOR)
    scenario = given(invoice("a", owes=100), incident, pause)
    scenario.submit(ApplyFact(Fact(invoice("b", owes=20)), OPERATOR), apology())
    assert scenario.event("Incident.ApologyPermitted").statement.owed == {"USD": 120}


def test_merging_again_or_back_changes_nothing() -> None:
    scenario = given(merged("cus_a", "cus_b"))
    for again in (merged("cus_a", "cus_b"), merged("cus_b", "cus_a"), merged("cus_b", "cus_b")):
        scenario.when(again).then(result="ignored", events=[])


def test_an_invoice_keeps_its_history_when_it_changes_its_owner() -> None:
    scenario = given(at("2026-12-04"), invoice(), reminder(), report(), invoice(customer="cus_2"))
    scenario.when(reminder(stage="day-3")).then(status=409, code="already_sent")
    scenario.when(at("2026-12-08"), reminder()).granted_now()
    assert scenario.body["customer_id"] == "cus_2"


def test_a_thread_keeps_its_history_when_it_moves() -> None:
    scenario = given(message(), intent(), report(), reply(), report())
    scenario.when(message("<m2@example.com>", customer="cus_2")).then(
        result="applied", events=["Customer.Created", "Thread.Moved", "Thread.MessageSeen"]
    )
    scenario.when(intent()).then(status=409, code="duplicate_intent")
    scenario.when(reply()).then(status=409, code="already_replied")
    scenario.when(reply("<m2@example.com>")).granted_now()
    assert scenario.body["customer_id"] == "cus_2"


def test_a_permit_of_the_old_owner_lapses_for_the_new_one() -> None:
    scenario = given(message(), intent(), message("<m2@example.com>", customer="cus_2"))
    scenario.when(intent()).then(status=409, code="permit_held")
    scenario.when(minutes(10), intent()).granted_now()
    scenario = given(message(), reply(), message("<m2@example.com>", customer="cus_2"))
    scenario.when(minutes(10), reply()).granted_now()


def test_a_thread_may_begin_with_somebody_new() -> None:
    given(intent(customer="cus_new")).granted_now()
    scenario = given(intent(to="pat@x.example")).granted_now()
    assert scenario.body["customer_id"] == known_by("pat@x.example")
    given(message(customer=None, sender="pat@x.example")).then(result="applied")
    given(message(customer=None)).then(result="rejected", events=[])
    given(intent()).then(status=404, code="unknown_thread")


def test_a_new_thread_of_somebody_denied_leaves_no_trace() -> None:
    scenario = given(CallPause("all", "stop", "ann", OPERATOR))
    scenario.when(intent(to="pat@x.example")).then(status=409, code="paused", events=[])
    assert scenario.store.contacts == {}


def test_an_address_of_two_billing_customers_is_an_alert_and_no_merge() -> None:
    scenario = given(customer("cus_1", "pat@x.example"))
    scenario.when(customer("cus_2", "Pat@x.example")).then(
        result="applied",
        events=["Customer.Created", "Customer.AddressesObserved"],
        alerts=["shared_address"],
    )
    scenario.when(customer("cus_2", "pat@x.example")).then(result="applied", alerts=[])


def test_older_news_of_addresses_is_stale() -> None:
    scenario = given(at("2026-01-03"), fact(customer("cus_1", "new@x.example"), "2026-01-02"))
    scenario.when(fact(customer("cus_1", "old@x.example"), "2026-01-01")).then(
        result="stale", events=[]
    )
    assert scenario.aggregate("customer", "cus_1").addresses == (
        address("new@x.example").fingerprint,
    )


def test_the_invoices_address_is_preferred_and_null_takes_it_off() -> None:
    scenario = given(customer("cus_1", "a@x.example", "b@x.example"), hours(1))
    scenario.when(invoice(email="c@x.example"), at("2026-12-04"), reminder())
    assert scenario.body["to"] == "c@x.example"
    scenario.when(report("rejected"), invoice(email=None), reminder())
    assert scenario.body["to"] == "a@x.example"
    scenario.when(report("rejected"), hours(1), invoice(email=None), invoice(), reminder())
    assert scenario.body["to"] == "a@x.example"


def test_an_address_told_in_the_same_instant_as_the_rest_is_taken() -> None:
    scenario = given(at("2026-12-04"), invoice(), invoice(email="pat@x.example"), reminder())
    assert scenario.body["to"] == "pat@x.example"


def test_an_invoice_without_a_billing_id_is_owed_by_whose_address_it_names() -> None:
    scenario = given(at("2026-12-04"), customer("cus_1", "pat@x.example"))
    scenario.when(invoice(customer=None, email="Pat@x.example")).then(result="applied", alerts=[])
    assert scenario.when(reminder()).body["customer_id"] == "cus_1"
    scenario = given(at("2026-12-04"), invoice(customer=None, email="pat@x.example"), reminder())
    assert scenario.body["customer_id"] == known_by("pat@x.example")
    given(invoice(customer=None)).then(result="rejected", events=[])


def test_a_bounce_holds_the_address_until_there_is_a_new_one_or_a_human_lifts_it() -> None:
    def bounced() -> Scenario:
        scenario = given(customer("cus_1", "pat@x.example"), notification("1"), report(id="pm_1"))
        return scenario.when(fact(delivery("bounced", "pm_1"))).then(
            result="applied",
            events=["Address.Created", "Address.AddressHeld"],
            alerts=["address_on_hold"],
        )

    bounced().when(notification("2")).then(status=409, code="address_on_hold", events=[])
    again = fact(delivery("complained", "pm_1"))
    bounced().when(again).then(result="applied", events=["Address.AddressHeld"], alerts=[])
    bounced().when(customer("cus_1", "new@x.example"), notification("2")).granted_now()
    released = bounced().when(ReleaseAddress("cus_1", "ann", "called them", OPERATOR))
    released.then(result="applied", events=["Address.AddressReleased"])
    released.when(notification("2")).granted_now()


def test_erased_addresses_are_gone_and_the_window_stays() -> None:
    scenario = given(customer("cus_1", "pat@x.example"), notification("1"), notification("2"))
    scenario.when(Erase("cus_1", "ann", OPERATOR)).then(
        result="applied", events=["Customer.Erased"]
    )
    assert scenario.store.contacts == {}
    scenario.when(notification("3")).then(status=429, code="cap_reached")
    scenario.when(days(1))
    scenario.when(Erase("nobody", "ann", OPERATOR)).then(status=404, code="unknown_customer")


def test_every_kind_counts_for_the_customer_that_the_owner_was_merged_into() -> None:
    for ask in (reminder(), payment_failed(), reply(), intent()):
        scenario = given(at("2026-12-04"), invoice(), message(), merged("cus_1", "cus_2"), ask)
        assert scenario.body["customer_id"] == "cus_2"
        assert set(scenario.aggregate("customer", "cus_2").permits) == set(scenario.granted)
