"""Stripe events for tests: an envelope around an object, with fields changed or left out."""

import json

from api.webhooks.provider import Translation
from tests.unit.webhooks.bodies import known, settings

LEFT_OUT = object()
"""As a field's value: the field is not there at all."""

INVOICE: dict[str, object] = {
    "id": "in_1",
    "object": "invoice",
    "customer": "cus_1",
    "customer_email": "pat@example.com",
    "currency": "usd",
    "total": 30000,
    "amount_remaining": 12500,
    "status": "open",
    "collection_method": "send_invoice",
    "due_date": 1796083199,
    "created": 1793491200,
}
CREATED = 1796169600


def invoice(**changes: object) -> dict[str, object]:
    """An open invoice, due on 2026-11-30 one second before midnight UTC."""
    return without(INVOICE | changes)


def without(members: dict[str, object]) -> dict[str, object]:
    """The members that are not left out."""
    return {name: value for name, value in members.items() if value is not LEFT_OUT}


def event(kind: str, what: object, **changes: object) -> bytes:
    """The body of a live event made at 2026-12-02T00:00:00Z."""
    envelope: dict[str, object] = {
        "id": "evt_1",
        "object": "event",
        "created": CREATED,
        "livemode": True,
        "type": kind,
        "data": {"object": what},
    }
    return json.dumps(without(envelope | changes)).encode()


def translate(body: bytes, **changes: object) -> Translation:
    """Stripe's translation in live mode."""
    values: dict[str, object] = {"mode": "live"}
    return known("stripe").translate({}, body, settings("stripe", **(values | changes)))


def observed(**changes: object) -> dict[str, object]:
    """The data of the one `invoice.observed` that this invoice becomes."""
    (fact,) = translate(event("invoice.updated", invoice(**changes))).facts
    assert fact.type == "invoice.observed"
    return fact.data
