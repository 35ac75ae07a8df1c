"""Forms of events that say too little: fetched by what they name, or refused with the setting."""

import json
from datetime import UTC, datetime

import pytest

from api.webhooks.provider import BadSignature, Refresh, Translation
from tests.unit.webhooks.bodies import known, settings
from tests.unit.webhooks.stripe_events import LEFT_OUT, event, translate, without

IGNORED = Translation(ignored="irrelevant_event")


def thin(kind: str, related: object = LEFT_OUT, **changes: object) -> Translation:
    """The translation of a thin event."""
    members = {
        "id": "evt_1",
        "object": "v2.core.event",
        "type": kind,
        "livemode": True,
        "created": "2026-11-22T00:00:00.000Z",
        "related_object": related,
        **changes,
    }
    return translate(json.dumps(without(members)).encode())


@pytest.mark.parametrize(
    ("kind", "object_kind", "object_id"),
    [
        ("v1.invoice.payment_failed", "invoice", "in_1"),
        ("v1.invoice.paid", "invoice", "in_1"),
        ("v1.credit_note.created", "credit_note", "cn_1"),
        ("v1.customer.updated", "customer", "cus_1"),
        ("v1.charge.dispute.created", "dispute", "dp_1"),
        ("v1.refund.created", "refund", "re_1"),
        ("v1.payment_intent.processing", "payment_intent", "pi_1"),
        ("v1.customer.subscription.deleted", "subscription", "sub_1"),
    ],
)
def test_a_thin_event_of_stripe_is_fetched(kind: str, object_kind: str, object_id: str) -> None:
    related = {"id": object_id, "type": object_kind, "url": f"/v1/x/{object_id}"}
    wanted = Refresh("stripe", object_kind, object_id)
    assert thin(kind, related) == Translation(refresh=(wanted,))


@pytest.mark.parametrize("related", [LEFT_OUT, None, {"id": "x", "type": "pat@example.com"}])
def test_a_thin_event_that_names_nothing_says_what_to_choose(related: object) -> None:
    (rejected,) = thin("v1.invoice.paid", related).rejected
    assert rejected.kind == "wrong_form"
    assert "choose snapshot events" in rejected.detail
    assert "pat" not in rejected.detail


@pytest.mark.parametrize(
    "kind",
    ["v1.price.created", "v1.payout.paid", "v2.core.account.updated", "v1.billing.meter.no_meter"],
)
def test_a_thin_event_that_says_nothing_of_money_is_ignored(kind: str) -> None:
    assert thin(kind) == IGNORED


@pytest.mark.parametrize("kind", ["v1.charge.refunded", "v1.charge.refund.updated"])
def test_a_thin_event_whose_refund_has_its_own_asks_for_nothing(kind: str) -> None:
    assert thin(kind, {"id": "ch_1", "type": "charge", "url": "/v1/charges/ch_1"}) == IGNORED


def test_a_thin_event_of_the_other_mode_is_ignored() -> None:
    assert thin("v1.invoice.paid", livemode=False) == Translation(ignored="other_mode")


def test_an_old_version_of_chargebee_says_what_to_choose() -> None:
    body = {"id": "ev_1", "event_type": "invoice_generated", "api_version": "v1", "content": {}}
    told = known("chargebee").translate({}, json.dumps(body).encode(), settings("chargebee"))
    (rejected,) = told.rejected
    assert (rejected.kind, "API version 2" in rejected.detail) == ("wrong_form", True)


def test_a_raw_message_of_ses_says_what_to_switch_off() -> None:
    raw = json.dumps({"notificationType": "Bounce", "bounce": {}, "mail": {}}).encode()
    with pytest.raises(BadSignature, match="raw message delivery"):
        known("ses").verify({}, raw, settings("ses"), datetime(2026, 12, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"customer": "cus_1"}, Refresh("stripe", "payment_intent", "pi_1")),
        ({"customer_account": "acct_1"}, Refresh("stripe", "payment_intent", "pi_1")),
        ({"customer": None}, None),
        ({"customer": "cus_1", "payment_details": {"order_reference": "order 7"}}, "fetched"),
    ],
)
def test_a_debit_on_its_way_that_names_no_invoice(
    members: dict[str, object], told: Refresh | str | None
) -> None:
    what = {"id": "pi_1", "amount": 4620, "currency": "eur", **members}
    translation = translate(event("payment_intent.processing", what))
    assert translation.facts == ()
    assert bool(translation.refresh) == (told is not None)
    if isinstance(told, Refresh):
        assert translation == Translation(refresh=(told,))
    failed = translate(event("payment_intent.payment_failed", what))
    assert failed == Translation(ignored="names_no_invoice")


@pytest.mark.parametrize(
    ("kind", "state"),
    [("processing", "pending"), ("payment_failed", "failed"), ("canceled", "failed")],
)
def test_a_debit_names_its_invoice_as_the_reference_of_the_order(kind: str, state: str) -> None:
    what = {
        "id": "pi_1",
        "amount": 4620,
        "currency": "eur",
        "customer": "cus_1",
        "payment_details": {"customer_reference": None, "order_reference": "in_1"},
    }
    (fact,) = translate(event(f"payment_intent.{kind}", what)).facts
    assert fact.data == {
        "invoice_id": "in_1",
        "payment_id": "pi_1",
        "amount": 4620,
        "state": state,
    }
