"""Stripe's other events: payments, credits, refunds, disputes, modes, accounts, unknown types."""

import inspect
import re
from datetime import UTC, datetime

import pytest
import stripe

from api.webhooks.provider import Refresh, Translation
from api.webhooks.providers.stripe_types import (
    OTHER_TYPES,
    PAYMENT_STATES,
    REFUNDS,
    SNAPSHOTS,
)
from tests.unit.webhooks.stripe_events import CREATED, LEFT_OUT, event, invoice, translate, without

PAYMENT = {
    "id": "inpay_1",
    "amount_paid": 2000,
    "currency": "usd",
    "invoice": "in_1",
    "payment": {"type": "payment_intent", "payment_intent": "pi_1"},
    "status_transitions": {"paid_at": CREATED - 5},
}
NOTE = {
    "id": "cn_1",
    "amount": 700,
    "created": CREATED - 1,
    "currency": "usd",
    "invoice": "in_1",
    "pre_payment_amount": 500,
    "post_payment_amount": 200,
    "status": "issued",
    "voided_at": None,
}
DISPUTE = {
    "id": "dp_1",
    "amount": 900,
    "charge": "ch_1",
    "currency": "usd",
    "payment_intent": "pi_1",
    "status": "needs_response",
}


def only(translation: Translation) -> tuple[str, dict[str, object]]:
    """The type and data of the one fact."""
    (fact,) = translation.facts
    assert translation == Translation(facts=(fact,))
    return fact.type, fact.data


@pytest.mark.parametrize(
    ("means", "payment_id"),
    [
        ({"type": "payment_intent", "payment_intent": "pi_1"}, "pi_1"),
        ({"type": "payment_intent", "payment_intent": {"id": "pi_1"}}, "pi_1"),
        ({"type": "charge", "charge": "ch_1"}, "ch_1"),
        ({"type": "payment_record", "payment_record": "pr_1"}, "pr_1"),
        ({"type": "something_new", "something_new": "x"}, "inpay_1"),
        (LEFT_OUT, "inpay_1"),
    ],
)
def test_a_partial_payment_is_dated_when_it_was_paid(means: object, payment_id: str) -> None:
    body = event("invoice_payment.paid", without(PAYMENT | {"payment": means}))
    (fact,) = translate(body).facts
    assert fact.time == datetime(2026, 12, 1, 23, 59, 55, tzinfo=UTC)
    assert fact.data == {
        "invoice_id": "in_1",
        "payment_id": payment_id,
        "amount": 2000,
        "state": "succeeded",
    }


def test_a_partial_payment_without_a_time_is_dated_by_its_event() -> None:
    body = event("invoice_payment.paid", without(PAYMENT | {"status_transitions": None}))
    (fact,) = translate(body).facts
    assert fact.time == datetime(2026, 12, 2, tzinfo=UTC)


def test_paid_and_payment_succeeded_are_the_same_snapshot() -> None:
    paid = invoice(status="paid", amount_remaining=0)
    one = only(translate(event("invoice.paid", paid)))
    other = only(translate(event("invoice.payment_succeeded", paid, id="evt_2")))
    assert one == other


@pytest.mark.parametrize("kind", PAYMENT_STATES)
def test_a_payment_intent_of_an_invoice_is_a_payment(kind: str) -> None:
    what = {"id": "pi_1", "amount": 300, "currency": "usd", "invoice": "in_1"}
    assert only(translate(event(kind, what))) == (
        "invoice.payment",
        {
            "invoice_id": "in_1",
            "payment_id": "pi_1",
            "amount": 300,
            "state": PAYMENT_STATES[kind],
        },
    )
    alone = translate(event(kind, what | {"invoice": None}))
    assert alone == Translation(ignored="names_no_invoice")


def test_a_payment_intent_on_its_way_for_a_customer_is_looked_up() -> None:
    what = {"id": "pi_1", "amount": 300, "currency": "usd", "customer": "cus_1"}
    on_its_way = translate(event("payment_intent.processing", what))
    assert on_its_way == Translation(refresh=(Refresh("stripe", "payment_intent", "pi_1"),))
    over = translate(event("payment_intent.canceled", what))
    assert over == Translation(ignored="names_no_invoice")


def test_only_what_was_credited_before_payment_lowers_what_is_owed() -> None:
    created = translate(event("credit_note.created", NOTE))
    assert created.facts[0].time == datetime(2026, 12, 1, 23, 59, 59, tzinfo=UTC)
    assert only(created) == (
        "invoice.credit",
        {"invoice_id": "in_1", "credit_id": "cn_1", "amount": 500},
    )
    refund = translate(event("credit_note.created", NOTE | {"pre_payment_amount": 0}))
    assert refund == Translation(ignored="changes_no_balance")


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("credit_note.voided", {"status": "void", "voided_at": CREATED - 2}),
        ("credit_note.created", {"status": "void", "voided_at": CREATED - 2}),
        ("credit_note.voided", {"voided_at": CREATED - 2}),
    ],
)
def test_a_void_credit_note_takes_the_credit_back(kind: str, changes: dict[str, object]) -> None:
    translation = translate(event(kind, NOTE | changes))
    assert translation.facts[0].time == datetime(2026, 12, 1, 23, 59, 58, tzinfo=UTC)
    assert only(translation) == (
        "invoice.credit",
        {"invoice_id": "in_1", "credit_id": "cn_1", "amount": -500},
    )


@pytest.mark.parametrize(("kind", "amount"), [("pre_payment", 700), ("post_payment", None)])
def test_an_old_credit_note_says_by_its_type_what_it_lowers(kind: str, amount: int | None) -> None:
    note = without(NOTE | {"pre_payment_amount": LEFT_OUT, "type": kind})
    translation = translate(event("credit_note.created", note))
    if amount is None:
        assert translation == Translation(ignored="changes_no_balance")
    else:
        assert only(translation)[1]["amount"] == amount


def test_an_old_credit_note_of_no_known_type_is_rejected() -> None:
    note = without(NOTE | {"pre_payment_amount": LEFT_OUT})
    (rejected,) = translate(event("credit_note.created", note)).rejected
    assert rejected.kind == "missing_field"


@pytest.mark.parametrize("kind", sorted(REFUNDS))
def test_a_refund_is_noted_and_moves_no_money(kind: str) -> None:
    what = {"id": "re_1", "amount": 100, "invoice": "in_1"}
    assert only(translate(event(kind, what))) == (
        "invoice.refund_noted",
        {"invoice_id": "in_1", "refund_id": "re_1"},
    )
    alone = translate(event(kind, {"id": "re_1", "charge": "ch_1"}))
    assert alone == Translation(ignored="names_no_invoice")


def test_a_charge_names_its_latest_refund() -> None:
    refunds = {"data": [{"id": "re_2"}, {"id": "re_1"}]}
    body = event("charge.refunded", {"id": "ch_1", "invoice": "in_1", "refunds": refunds})
    assert only(translate(body))[1]["refund_id"] == "re_2"


@pytest.mark.parametrize("kind", ["charge.dispute.created", "charge.dispute.closed"])
def test_a_dispute_of_an_unknown_invoice_is_something_to_fetch(kind: str) -> None:
    translation = translate(event(kind, DISPUTE))
    assert translation == Translation(refresh=(Refresh("stripe", "dispute", "dp_1"),))


@pytest.mark.parametrize(
    "named",
    [
        {"charge": {"id": "ch_1", "invoice": "in_1"}},
        {"payment_intent": {"id": "pi_1", "invoice": "in_1"}},
        {"invoice": "in_1"},
    ],
)
def test_a_dispute_holds_its_invoice_until_it_is_won(named: dict[str, object]) -> None:
    reason = {"invoice_id": "in_1", "reason": "dispute dp_1"}
    opened = translate(event("charge.dispute.created", DISPUTE | named))
    assert only(opened) == ("invoice.hold", reason)
    for status in ("won", "warning_closed"):
        closed = translate(event("charge.dispute.closed", DISPUTE | named | {"status": status}))
        assert only(closed) == ("invoice.unhold", reason)


def test_a_lost_dispute_reverses_the_payment_and_ends_the_hold() -> None:
    what = DISPUTE | {"status": "lost", "charge": {"id": "ch_1", "invoice": "in_1"}}
    reversal, unhold = translate(event("charge.dispute.closed", what)).facts
    assert (reversal.type, reversal.data) == (
        "invoice.payment",
        {"invoice_id": "in_1", "payment_id": "pi_1", "amount": 900, "state": "reversed"},
    )
    assert (unhold.id, unhold.type) == ("evt_1:unhold", "invoice.unhold")


def test_a_customers_address_is_observed() -> None:
    what = {"id": "cus_1", "email": "pat@example.com"}
    for kind in ("customer.created", "customer.updated"):
        assert only(translate(event(kind, what))) == (
            "customer.observed",
            {"customer_id": "cus_1", "emails": ["pat@example.com"]},
        )
    for gone in ({"email": None}, {"email": ""}, {}):
        assert only(translate(event("customer.updated", {"id": "cus_1", **gone}))) == (
            "customer.observed",
            {"customer_id": "cus_1", "emails": []},
        )
        nobody = translate(event("customer.created", {"id": "cus_1", **gone}))
        assert nobody == Translation(ignored="customer_without_address")
    odd = translate(event("customer.updated", {"id": "cus_1", "email": "pat at example.com"}))
    assert [rejected.kind for rejected in odd.rejected] == ["unusable_address"]


@pytest.mark.parametrize(("mode", "livemode"), [("live", False), ("test", True)])
def test_events_of_the_other_mode_are_ignored(mode: str, livemode: bool) -> None:
    body = event("invoice.updated", invoice(), livemode=livemode)
    assert translate(body, mode=mode) == Translation(ignored="other_mode")


def test_an_account_of_connect_is_a_source_of_its_own() -> None:
    body = event("invoice.updated", invoice(), account="acct_1")
    assert translate(body).facts[0].source == "stripe/acct_1"
    assert translate(event("invoice.updated", invoice())).facts[0].source == "stripe"


@pytest.mark.parametrize(
    ("changes", "invoice_id"),
    [
        ({"id": "evt_00000000000000"}, "in_1"),
        ({"id": "invoice.updated_00000000000000"}, "in_1"),
        ({}, "in_00000000000000"),
        ({"livemode": False}, "in_00000000000000"),
    ],
)
def test_dashboard_samples_are_ignored_in_live_mode(
    changes: dict[str, object], invoice_id: str
) -> None:
    body = event("invoice.updated", invoice(id=invoice_id), **changes)
    assert translate(body) == Translation(ignored="dashboard_test_event")


@pytest.mark.parametrize("id", ["evt_1000000000000000", "evt_00000001", "evt_0", "in_0000000000x"])
def test_ids_with_some_zeros_are_no_samples(id: str) -> None:
    assert translate(event("invoice.updated", invoice(), id=id)).facts != ()


@pytest.mark.parametrize(
    "kind",
    [
        "invoice.unheard_of",
        "invoice_payment.detached",
        "charge.unheard_of",
        "payment_intent.unheard_of",
        "credit_note.unheard_of",
        "refund.unheard_of",
        "customer.unheard_of",
        "unheard_of.created",
        "unheard_of",
        "invoice",
        "pat@example.com",
    ],
)
def test_an_unknown_type_that_could_touch_money_is_alerted_on(kind: str) -> None:
    translation = translate(event(kind, invoice()))
    (rejected,) = translation.rejected
    assert translation == Translation(rejected=(rejected,))
    assert rejected.kind == "unknown_money_event"
    assert kind == "invoice" or kind not in rejected.detail


@pytest.mark.parametrize(
    "kind",
    ["price.unheard_of", "payout.unheard_of", "customer.subscription.unheard_of", "v2.core.x"],
)
def test_an_unknown_type_that_cannot_touch_money_is_ignored(kind: str) -> None:
    assert translate(event(kind, {})) == Translation(ignored="irrelevant_event")


def test_every_type_that_stripes_library_knows_has_its_place() -> None:
    from stripe.params import _webhook_endpoint_create_params

    source = inspect.getsource(_webhook_endpoint_create_params)
    types = set(re.findall(r'"([a-z0-9_]+(?:\.[a-z0-9_]+)+)"', source))
    assert len(types) > 200, stripe.VERSION
    translated = SNAPSHOTS | REFUNDS | set(PAYMENT_STATES)
    translated |= {"credit_note.created", "credit_note.voided", "invoice_payment.paid"}
    translated |= {"charge.dispute.created", "charge.dispute.closed"}
    translated |= {"customer.created", "customer.updated"}
    assert {kind for kind in types - translated if not OTHER_TYPES.is_harmless(kind)} == set()
    assert {kind for kind in translated if OTHER_TYPES.is_harmless(kind)} == set()
