"""What people see of an invoice and a customer: every state of a stage, windows, breaker, debts."""

from typing import Any

import pytest

from ledger.application.views import customer_view, invoice_view
from tests.support.build import (
    at,
    customer,
    customer_hold,
    days,
    delivery,
    fact,
    hold,
    invoice,
    merged,
    minutes,
    notification,
    paid,
    redeem,
    reminder,
    report,
)
from tests.support.given import Scenario, given


def seen(scenario: Scenario) -> dict[str, Any]:
    return invoice_view(scenario.aggregate("invoice", "inv_1"), scenario.store.now, scenario.policy)


def states(scenario: Scenario) -> dict[str, str]:
    return {f"{s['cycle']}/{s['stage']}": s["state"] for s in seen(scenario)["stages"]}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], "pending due pending"),
        ([reminder()], "superseded permitted pending"),
        ([reminder(), redeem()], "superseded permitted pending"),
        ([reminder(), report()], "superseded sent pending"),
        ([reminder(), report("unknown")], "superseded unknown pending"),
        ([reminder(), report("rejected")], "pending due pending"),
        ([paid(30000)], "pending pending pending"),
        ([days(7)], "pending pending due"),
        ([paid(28000)], "due pending pending"),
    ],
)
def test_every_state_of_a_stage(steps: list[Any], expected: str) -> None:
    scenario = given(at("2026-12-08"), invoice(), *steps)
    assert " ".join(states(scenario).values()) == expected


def test_a_bounced_stage() -> None:
    scenario = given(at("2026-12-08"), invoice(), reminder(), report())
    scenario.when(fact(delivery("bounced", permit=scenario.granted[0])))
    assert states(scenario)["1/day-7"] == "bounced"


def test_an_invoice_that_came_back_shows_both_its_cycles() -> None:
    scenario = given(at("2026-12-08"), invoice(), reminder(), report(), days(1), paid(30000))
    scenario.when(days(1), paid(30000, state="reversed"), days(3))
    assert states(scenario) == {
        "1/day-3": "superseded",
        "1/day-7": "sent",
        "2/day-3": "due",
        "2/day-7": "pending",
        "2/day-14": "pending",
    }
    view = seen(scenario)
    assert (view["cycle"], view["days_past_due"], view["status"]) == (2, 3, "open")


def test_holds_and_payments_in_flight_are_shown_while_they_bind() -> None:
    scenario = given(at("2026-12-08"), invoice(), hold(until="2026-12-09"))
    scenario.when(paid(5, state="pending"))
    view = seen(scenario)
    assert view["on_hold"] == {"reason": "dispute", "until": at("2026-12-09")}
    assert view["payment_in_flight_until"] == at("2026-12-15")
    scenario.when(days(8))
    assert (seen(scenario)["on_hold"], seen(scenario)["payment_in_flight_until"]) == (None, None)


def test_an_invoice_that_is_not_late_is_zero_days_past_due() -> None:
    assert seen(given(at("2026-11-20"), invoice()))["days_past_due"] == 0
    assert seen(given(at("2026-12-20"), invoice(), paid(30000)))["days_past_due"] == 0
    assert seen(given(at("2026-12-20"), invoice(due=None)))["days_past_due"] == 0


def person(scenario: Scenario, name: str = "cus_1") -> dict[str, Any]:
    invoices = [a for a in scenario.store.replay().values() if hasattr(a, "standing")]
    aggregate = scenario.aggregate("customer", name)
    return customer_view(aggregate, invoices, scenario.store.now, scenario.policy)


def test_a_customer_with_a_full_window_and_an_open_breaker() -> None:
    scenario = given(customer(), notification("1"), minutes(5), notification("2"))
    scenario.when(notification("3"))
    view = person(scenario)
    assert view["windows"]["outreach_24h"] == {
        "used": 2,
        "limit": 2,
        "frees_at": at("2026-01-02"),
    }
    assert view["windows"]["replies_1h"] == {"used": 0, "limit": 5, "frees_at": None}
    assert view["breaker"]["state"] == "open"
    assert (view["breaker"]["scope"], view["breaker"]["opened_at"]) == (
        "outreach",
        at("2026-01-01T00:05Z"),
    )
    assert "outreach_24h" in view["breaker"]["cause"]


def test_an_expired_permit_is_not_counted_even_before_it_lapsed() -> None:
    scenario = given(customer(), notification("1"), minutes(10))
    assert person(scenario)["windows"]["outreach_24h"]["used"] == 0


def test_what_a_customer_owes_per_currency() -> None:
    scenario = given(
        invoice("inv_1", owes=100),
        invoice("inv_2", owes=20, currency="EUR"),
        invoice("inv_3", owes=3),
        invoice("inv_4"),
        paid(30000, "inv_4"),
    )
    view = person(scenario)
    assert view["owed"] == [
        {"currency": "EUR", "amount": 20},
        {"currency": "USD", "amount": 103},
    ]
    assert [line["invoice_id"] for line in view["open_invoices"]] == ["inv_1", "inv_2", "inv_3"]


def test_a_customer_on_hold_and_merged() -> None:
    scenario = given(customer_hold("cus_0"), merged("cus_0", "cus_1"))
    view = person(scenario)
    assert view["on_hold"] == {"reason": "bankrupt", "until": None}
    assert view["merged"] == ["cus_0"]
    assert view["breaker"] == {"state": "closed", "scope": None, "opened_at": None, "cause": None}
