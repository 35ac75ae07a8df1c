"""A customer's credit beside any invoice lowers what is owed, and may make a reminder needless."""

import json
from typing import Any

import pytest

from ledger.application.commands import CallPause, DeclareIncident
from ledger.application.views import customer_view
from ledger.domain.credits import CreditBook, less_credit
from ledger.domain.money import LARGEST_AMOUNT
from ledger.domain.policy import Policy
from tests.support.build import (
    OPERATOR,
    apology,
    at,
    customer_credit,
    fact,
    invoice,
    merged,
    minutes,
    payment_failed,
    redeem,
    reminder,
    unmerged,
)
from tests.support.given import Scenario, given

A, B = "cus_a", "cus_b"


def past_due(*steps: Any) -> Scenario:
    """One invoice of 300.00 USD and one of 100.00 EUR on the day of their first reminder."""
    return given(
        at("2026-12-01"),
        invoice(),
        invoice("inv_eur", owes=10000, currency="EUR"),
        at("2026-12-04T08:00Z"),
        *steps,
    )


def test_only_a_credit_for_all_that_is_open_in_the_currency_makes_reminders_needless() -> None:
    scenario = past_due(customer_credit(29999))
    scenario.when(reminder()).granted_now()
    scenario.when(redeem()).then(status=200)
    covered = past_due(customer_credit(30000))
    covered.when(reminder()).then(status=409, code="nothing_owed", events=[])
    covered.when(reminder("inv_1", "inv_eur")).granted_now()
    assert [item["invoice_id"] for item in covered.body["items"]] == ["inv_eur"]
    assert covered.body["withheld"] == [
        {"invoice_id": "inv_1", "code": "nothing_owed", "available_at": None}
    ]


def test_every_open_invoice_of_the_currency_is_weighed() -> None:
    scenario = past_due(customer_credit(30000), invoice("inv_2", owes=1))
    scenario.when(reminder()).granted_now()
    scenario = past_due(customer_credit(30000), invoice("inv_2", owes=1, customer="cus_2"))
    scenario.when(reminder()).then(status=409, code="nothing_owed")


def test_other_mail_about_the_invoice_is_as_it_was() -> None:
    past_due(customer_credit(30000)).when(payment_failed()).granted_now()


def test_a_credit_since_the_grant_revokes_the_reminder_and_a_part_does_not() -> None:
    for amount, status in ((30000, 409), (29999, 200)):
        scenario = past_due(reminder(), customer_credit(amount))
        scenario.when(redeem()).then(status=status, code="revoked" if status == 409 else None)


def test_the_latest_word_on_a_credit_counts_once() -> None:
    scenario = past_due(customer_credit(20000), customer_credit(10000, id="cre_2"))
    scenario.when(reminder()).then(status=409, code="nothing_owed")
    scenario.when(customer_credit(10000, id="cre_2")).then(result="duplicate", events=[])
    scenario.when(customer_credit(-10000, id="cre_2")).then(
        result="applied", events=["Customer.CreditNoted"]
    )
    assert scenario.event("Customer.CreditNoted").balance == 20000
    scenario.when(customer_credit(-10000, id="cre_2")).then(result="duplicate")
    scenario.when(minutes(1), customer_credit(5000)).then(result="applied")
    assert scenario.event("Customer.CreditNoted").balance == 5000
    scenario.when(reminder()).granted_now()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_words_on_one_credit_may_come_in_any_order(order: tuple[int, ...]) -> None:
    words = [
        fact(customer_credit(amount), f"2026-11-0{day}T10:00Z")
        for day, amount in ((1, 30000), (2, 500), (3, 30000))
    ]
    scenario = past_due(*(words[place] for place in order))
    assert scenario.aggregate("customer", "cus_1").credit.available("USD") == 30000
    scenario.when(reminder()).then(status=409, code="nothing_owed")


def test_a_credit_taken_back_before_it_is_told_of_comes_to_nothing() -> None:
    scenario = past_due(customer_credit(-30000), reminder())
    assert scenario.aggregate("customer", "cus_1").credit.available("USD") == 0
    scenario.when(customer_credit(30000))
    assert scenario.aggregate("customer", "cus_1").credit.available("USD") == 0


def test_a_credit_in_another_currency_or_without_bounds_is_refused() -> None:
    scenario = past_due(customer_credit(100))
    scenario.when(customer_credit(100, currency="EUR")).then(result="rejected", events=[])
    scenario.when(customer_credit(LARGEST_AMOUNT, id="cre_2")).then(result="rejected", events=[])
    scenario.when(customer_credit(LARGEST_AMOUNT - 100, id="cre_2")).then(result="applied")


def test_what_is_owed_is_told_less_the_credit() -> None:
    scenario = past_due(customer_credit(12345), customer_credit(20000, id="e", currency="EUR"))
    customer = scenario.aggregate("customer", "cus_1")
    invoices = [scenario.aggregate("invoice", name) for name in ("inv_1", "inv_eur")]
    view = customer_view(customer, invoices, scenario.store.now, Policy())
    assert view["owed"] == [{"currency": "EUR", "amount": 0}, {"currency": "USD", "amount": 17655}]
    assert view["credit"] == [
        {"currency": "EUR", "amount": 20000},
        {"currency": "USD", "amount": 12345},
    ]
    assert [i["amount_remaining"] for i in view["open_invoices"]] == [30000, 10000]


def test_the_statement_of_an_apology_takes_the_credit_off() -> None:
    began, ended = at("2026-12-01"), at("2026-12-02")
    scenario = past_due(
        customer_credit(12345),
        DeclareIncident("F1", "flood", "a loop", began, ended, "ann", OPERATOR),
        CallPause("all", "flood", "ann", OPERATOR),
    )
    scenario.when(apology()).granted_now()
    statement = scenario.body["statement"]
    assert [(o["currency"], o["amount"]) for o in statement["owed"]] == [
        ("EUR", 10000),
        ("USD", 17655),
    ]
    assert statement["credit"] == [{"currency": "USD", "amount": 12345, "formatted": "$123.45"}], (
        json.dumps(statement)
    )
    assert scenario.event("Incident.ApologyPermitted").statement.credit == {"USD": 12345}


def test_credit_goes_with_a_merge_and_comes_back_with_the_parting() -> None:
    scenario = given(
        customer_credit(100, customer=A),
        customer_credit(50, customer=B),
        merged(A, B),
        customer_credit(30, customer=A, id="cre_2"),
    )
    assert scenario.aggregate("customer", B).credit.all_available() == {"USD": 180}
    scenario.when(unmerged(A, B))
    assert scenario.aggregate("customer", A).credit.all_available() == {"USD": 130}
    assert scenario.aggregate("customer", B).credit.all_available() == {"USD": 50}


def test_a_book_never_tells_of_less_than_nothing() -> None:
    book = CreditBook()
    book.note(A, "USD", -5)
    book.note(B, "EUR", 3)
    assert (book.available("USD"), book.available("GBP"), book.all_available()) == (
        0,
        0,
        {"EUR": 3},
    )
    assert less_credit({"USD": 7, "EUR": 2}, book) == {"USD": 7, "EUR": 0}
