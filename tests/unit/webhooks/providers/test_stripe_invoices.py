"""Stripe's invoices: state before type, dates in UTC, whole minor units, and who owes it."""

from datetime import UTC, datetime

import pytest

from api.webhooks.provider import Rejected, Translation
from api.webhooks.providers.stripe_types import PAYMENT_FAILURES, SNAPSHOTS
from tests.unit.webhooks.stripe_events import LEFT_OUT, event, invoice, observed, translate

PLAIN = {
    "invoice_id": "in_1",
    "customer_id": "cus_1",
    "email": "pat@example.com",
    "currency": "USD",
    "total": 30000,
    "amount_remaining": 12500,
    "status": "open",
    "due_on": "2026-11-30",
    "issued_on": "2026-11-01",
    "observed_at": "2026-12-02T00:00:00Z",
    "precision": "second",
}


def kind_of(translation: Translation) -> str:
    """The one rejection's kind; there are no facts."""
    assert translation.facts == ()
    (rejected,) = translation.rejected
    return rejected.kind


@pytest.mark.parametrize("kind", sorted(SNAPSHOTS - PAYMENT_FAILURES - {"invoice.deleted"}))
def test_the_state_counts_whatever_the_type_is_called(kind: str) -> None:
    (fact,) = translate(event(kind, invoice())).facts
    assert (fact.type, fact.data) == ("invoice.observed", PLAIN)
    assert fact.time == datetime(2026, 12, 2, tzinfo=UTC)


def test_a_deleted_draft_is_void() -> None:
    (fact,) = translate(event("invoice.deleted", invoice(status="draft"))).facts
    assert fact.data["status"] == "void"


@pytest.mark.parametrize("kind", sorted(PAYMENT_FAILURES))
def test_a_failed_payment_is_noted_beside_the_snapshot(kind: str) -> None:
    snapshot, failure = translate(event(kind, invoice(charge="ch_1", payment_intent="pi_1"))).facts
    assert snapshot.data == PLAIN
    assert failure.type == "invoice.payment_failed"
    assert failure.id == "evt_1:failed"
    assert failure.data == {"invoice_id": "in_1", "event_id": "evt_1", "attempt_id": "ch_1"}


def test_a_failure_of_an_invoice_paid_by_now_is_no_failure() -> None:
    for status in ("paid", "void", "draft"):
        (fact,) = translate(event("invoice.payment_failed", invoice(status=status))).facts
        assert fact.type == "invoice.observed"


def test_without_charge_and_intent_a_failure_names_no_attempt() -> None:
    (_, failure) = translate(event("invoice.payment_failed", invoice())).facts
    assert failure.data == {"invoice_id": "in_1", "event_id": "evt_1"}
    (_, failure) = translate(event("invoice.payment_failed", invoice(payment_intent="pi_1"))).facts
    assert failure.data["attempt_id"] == "pi_1"


@pytest.mark.parametrize("request_", [{"id": "req_1", "idempotency_key": None}, "req_1"])
def test_two_events_of_one_request_are_one_attempt(request_: object) -> None:
    """Since basil an invoice names neither its charge nor its intent."""
    for kind in PAYMENT_FAILURES:
        (_, failure) = translate(event(kind, invoice(), request=request_)).facts
        assert failure.data["attempt_id"] == "req_1"
    named = event("invoice.payment_failed", invoice(charge="ch_1"), request=request_)
    assert translate(named).facts[1].data["attempt_id"] == "ch_1"
    for nobody in ({"id": None, "idempotency_key": None}, None):
        (_, failure) = translate(event("invoice.payment_failed", invoice(), request=nobody)).facts
        assert "attempt_id" not in failure.data


def test_a_prefix_is_not_part_of_the_providers_event_id() -> None:
    (_, failure) = translate(event("invoice.payment_failed", invoice()), prefix="eu-").facts
    assert failure.data == {"invoice_id": "eu-in_1", "event_id": "evt_1"}


@pytest.mark.parametrize(
    ("instant", "date"),
    [
        (1796083199, "2026-11-30"),
        (1796083200, "2026-12-01"),
        (1772236799, "2026-02-27"),
        (1709164800, "2024-02-29"),
    ],
)
def test_a_due_instant_is_a_day_in_utc(instant: int, date: str) -> None:
    assert observed(due_date=instant)["due_on"] == date


@pytest.mark.parametrize("field", ["collection_method", "billing"])
def test_what_stripe_charges_by_itself_has_no_due_date(field: str) -> None:
    changes = {"collection_method": LEFT_OUT, field: "charge_automatically"}
    assert observed(**changes)["due_on"] is None


def test_a_missing_due_date_clears_the_old_one() -> None:
    assert observed(due_date=None)["due_on"] is None


@pytest.mark.parametrize(
    ("changes", "date"),
    [
        ({"effective_at": 1793577600}, "2026-11-02"),
        ({"status_transitions": {"finalized_at": 1793664000}}, "2026-11-03"),
        ({"finalized_at": 1793750400}, "2026-11-04"),
        ({}, "2026-11-01"),
        ({"created": LEFT_OUT, "date": 1793836800}, "2026-11-05"),
    ],
)
def test_the_issue_date_is_the_best_one_given(changes: dict[str, object], date: str) -> None:
    assert observed(**changes)["issued_on"] == date


def test_a_draft_is_not_issued() -> None:
    assert "issued_on" not in observed(status="draft")


def test_an_expanded_customer_is_the_same_customer() -> None:
    assert observed(customer={"id": "cus_1", "object": "customer"})["customer_id"] == "cus_1"


def test_without_a_customer_the_address_tells_who_owes_it() -> None:
    data = observed(customer=None)
    assert data["email"] == "pat@example.com"
    assert "customer_id" not in data


def test_without_customer_and_address_nobody_can_be_mailed() -> None:
    translation = translate(event("invoice.updated", invoice(customer=None, customer_email=None)))
    assert kind_of(translation) == "invoice_without_customer"


def test_an_address_that_is_none_is_reported_and_the_balance_still_counts() -> None:
    translation = translate(event("invoice.updated", invoice(customer_email="not an address")))
    (fact,) = translation.facts
    assert fact.data == {name: value for name, value in PLAIN.items() if name != "email"}
    assert [rejected.kind for rejected in translation.rejected] == ["unusable_address"]


@pytest.mark.parametrize(
    ("currency", "given", "kept"),
    [
        ("jpy", 500, 500),
        ("krw", 500, 500),
        ("usd", 500, 500),
        ("kwd", 5120, 5120),
        ("huf", 1045, 1045),
        ("isk", 500, 5),
        ("ugx", 500, 5),
        ("mga", 500, 50000),
    ],
)
def test_amounts_are_in_minor_units_of_iso_4217(currency: str, given: int, kept: int) -> None:
    data = observed(currency=currency, total=given, amount_remaining=given)
    assert (data["total"], data["amount_remaining"]) == (kept, kept)
    assert data["currency"] == currency.upper()


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"total": 300.0}, "bad_amount"),
        ({"total": -(2**53)}, "bad_amount"),
        ({"total": "300"}, "bad_amount"),
        ({"total": True}, "bad_amount"),
        ({"total": 2**53}, "bad_amount"),
        ({"total": 10**29}, "bad_amount"),
        ({"total": None}, "missing_field"),
        ({"amount_remaining": 0.5}, "bad_amount"),
        ({"amount_remaining": -0.5}, "bad_amount"),
        ({"amount_remaining": LEFT_OUT}, "missing_field"),
        ({"currency": "isk", "total": 50}, "bad_amount"),
        ({"currency": "xyz"}, "unknown_currency"),
        ({"currency": "xau"}, "unknown_currency"),
        ({"currency": "us"}, "unknown_currency"),
        ({"currency": 840}, "wrong_type"),
        ({"currency": None}, "missing_field"),
        ({"due_date": "2026-11-30"}, "bad_date"),
        ({"due_date": True}, "bad_date"),
        ({"due_date": -62135596800}, "bad_date"),
        ({"due_date": 253402300799}, "bad_date"),
        ({"due_date": 10**29}, "bad_date"),
        ({"due_date": 0}, "bad_date"),
        ({"status": "new_state"}, "unknown_status"),
        ({"status": None}, "missing_field"),
        ({"id": None}, "missing_field"),
        ({"id": ""}, "missing_field"),
        ({"id": 7}, "wrong_type"),
        ({"id": "x" * 256}, "bad_text"),
        ({"id": "in\u0000"}, "bad_text"),
        ({"id": "in\n1"}, "bad_text"),
        ({"id": "in\ud800"}, "bad_text"),
        ({"customer": ["cus_1"]}, "wrong_type"),
        ({"status_transitions": "none"}, "wrong_type"),
    ],
)
def test_what_cannot_be_used_is_rejected_and_nothing_is_guessed(
    changes: dict[str, object], kind: str
) -> None:
    assert kind_of(translate(event("invoice.updated", invoice(**changes)))) == kind


def test_the_largest_amount_is_the_last_whole_number_of_every_json_reader() -> None:
    assert observed(total=2**53 - 1)["total"] == 2**53 - 1


def test_an_id_that_grows_too_long_by_its_prefix_is_rejected() -> None:
    body = event("invoice.updated", invoice(id="x" * 255))
    assert translate(body).facts != ()
    assert kind_of(translate(body, prefix="p")) == "bad_text"


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"id": LEFT_OUT}, "missing_field"),
        ({"created": LEFT_OUT}, "missing_field"),
        ({"created": 1.7e300}, "bad_date"),
        ({"type": LEFT_OUT}, "missing_field"),
        ({"type": 5}, "wrong_type"),
        ({"data": LEFT_OUT}, "missing_field"),
        ({"data": []}, "wrong_type"),
        ({"data": {"object": "in_1"}}, "wrong_type"),
        ({"livemode": "yes"}, "wrong_type"),
        ({"account": 5}, "wrong_type"),
    ],
)
def test_an_envelope_that_cannot_be_used_is_rejected(changes: dict[str, object], kind: str) -> None:
    assert kind_of(translate(event("invoice.updated", invoice(), **changes))) == kind


def test_a_rejection_names_the_place_and_never_the_value() -> None:
    translation = translate(event("invoice.updated", invoice(total="pat@example.com")))
    assert translation.rejected == (
        Rejected("bad_amount", "data.object.total is not in whole minor units"),
    )
