"""An instant that a provider tells becomes a day in the billing zone."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.webhooks.posting import environment, signed, signed_json
from tests.support.service import Service, fresh_service
from tests.unit.webhooks.bodies import sample

DUE = 1796072400
"""2026-11-30T21:00Z, which is 1 December in Sydney."""


@pytest.fixture(scope="module")
def sydney(postgres: str) -> Iterator[Service]:
    """A service that bills in Sydney."""
    env = environment(LEDGER_TIME_ZONE="Australia/Sydney")
    with fresh_service(postgres, "2026-12-03T12:30:00+00:00", env=env) as service:
        yield service


def stripe() -> dict[str, Any]:
    invoice = {
        "id": "in_sydney",
        "customer": "cus_sydney",
        "customer_email": "pat@example.com",
        "currency": "aud",
        "total": 30000,
        "amount_remaining": 30000,
        "status": "open",
        "collection_method": "send_invoice",
        "due_date": DUE,
        "created": DUE - 30 * 86400,
    }
    return {
        "id": "evt_sydney",
        "object": "event",
        "type": "invoice.finalized",
        "livemode": False,
        "created": DUE - 86400,
        "data": {"object": invoice},
    }


def test_a_due_instant_is_a_day_in_the_billing_zone(sydney: Service) -> None:
    signed_json("stripe", stripe(), sydney.clock).to(sydney).ok()
    invoice = sydney.get("/v1/invoices/in_sydney").ok()
    assert (invoice["due_on"], invoice["issued_on"]) == ("2026-12-01", "2026-11-01")
    sydney.remind("in_sydney", "day-3").no(409, "not_reached")
    sydney.move_clock("2026-12-03T13:00:01+00:00")
    sydney.remind("in_sydney", "day-3").ok(201)


def test_so_is_recurlys_and_chargebees(sydney: Service) -> None:
    text = sample("recurly/new_charge_invoice_notification.xml").decode()
    text = text.replace("2018-03-16T15:00:04Z", "2026-11-30T21:00:00Z")
    assert "2026-11-30T21" in text
    signed("recurly", text.encode(), sydney.clock).to(sydney).ok()
    due = sydney.get("/v1/invoices/42feb03ce368c0e1ead35d4bfa89b82e").ok()["due_on"]
    assert due == "2026-12-01"
    invoice = {
        "id": "9",
        "customer_id": "C9",
        "status": "payment_due",
        "currency_code": "AUD",
        "total": 500,
        "amount_due": 500,
        "date": DUE,
        "due_date": DUE,
        "resource_version": DUE * 1000,
    }
    event = {"id": "ev_9", "event_type": "invoice_generated", "occurred_at": DUE}
    body = event | {"content": {"invoice": invoice}}
    signed_json("chargebee", body, sydney.clock).to(sydney).ok()
    told = sydney.get("/v1/invoices/9").ok()
    assert (told["due_on"], told["issued_on"]) == ("2026-12-01", "2026-12-01")
