"""Every Recurly sample: exactly these facts and hints."""

import hashlib

import pytest

from api.webhooks.provider import Refresh, Translation
from tests.unit.webhooks.bodies import events, read, sample


def id_of(name: str) -> str:
    body = sample(f"recurly/{name}.xml")
    return "sha256:" + hashlib.sha256(b"recurly\0" + body).hexdigest()


def observed(name: str, at: str, /, **data: object) -> dict[str, object]:
    observed_at = at.replace("+00:00", "Z")
    told = {"observed_at": observed_at, "precision": "second", "payment_in_flight": False}
    return fact(id_of(name), "invoice.observed", at, **told, **data)


def fact(id: str, kind: str, at: str, /, **data: object) -> dict[str, object]:
    return {"id": id, "source": "recurly", "type": kind, "time": at, "data": data}


INVOICE_2405 = {
    "invoice_id": "42feb03ce368c0e1ead35d4bfa89b82e",
    "customer_id": "1234",
    "currency": "USD",
    "total": 100000,
    "issued_on": "2018-02-13",
    "due_on": "2018-03-16",
}
NEW = "new_charge_invoice_notification"
PAST_DUE = "past_due_charge_invoice_notification.constructed"
DUNNING = "new_dunning_event_notification"
FAILED = "failed_charge_invoice_notification.balance_0.constructed"
EXPECTED = {
    NEW: [
        observed(
            NEW,
            "2018-02-13T16:00:04+00:00",
            **INVOICE_2405,
            status="open",
            amount_remaining=100000,
        )
    ],
    PAST_DUE: [
        observed(
            PAST_DUE,
            "2018-03-17T15:00:11+00:00",
            **INVOICE_2405,
            status="open",
            amount_remaining=40000,
        )
    ],
    DUNNING: [
        observed(
            DUNNING,
            "2018-02-12T16:50:23+00:00",
            invoice_id="424a9d4a2174b4f39bc776426aa19c32",
            customer_id="1",
            email="customer@example.com",
            currency="USD",
            total=4500,
            amount_remaining=4000,
            status="open",
            issued_on="2018-01-09",
            due_on="2018-02-09",
        ),
        fact(
            f"{id_of(DUNNING)}:reminder",
            "send.observed",
            "2018-02-12T16:50:23+00:00",
            customer_id="1",
            invoice_id="424a9d4a2174b4f39bc776426aa19c32",
            at="2018-02-12T16:50:23Z",
        ),
    ],
    FAILED: [
        observed(
            FAILED,
            "2026-12-30T16:00:04+00:00",
            invoice_id="00000000000000000000000000001011",
            customer_id="example-1011",
            currency="USD",
            total=100000,
            amount_remaining=100000,
            status="uncollectible",
            issued_on="2026-11-01",
            due_on="2026-12-01",
        )
    ],
    "reactivated_account_notification": [
        {
            "id": id_of("reactivated_account_notification"),
            "source": "recurly",
            "type": "subscription.resumed",
            "data": {"subscription_id": "6ab458a887d38070807ebb3bed7ac1e5", "customer_id": "1"},
        }
    ],
    "successful_payment_notification": [
        fact(
            id_of("successful_payment_notification"),
            "invoice.payment",
            "2009-11-22T13:10:38+00:00",
            invoice_id="1974a09kj90s0789dsf099798326881c",
            payment_id="a5143c1d3a6f4a8287d0e2cc1d4c0427",
            amount=1000,
            state="succeeded",
        )
    ],
    "successful_refund_notification": [
        fact(
            id_of("successful_refund_notification"),
            "invoice.refund_noted",
            "2010-10-06T20:37:55+00:00",
            invoice_id="ffc64d71d4b5404e93f13aac9c63b007",
            refund_id="a5143c1d3a6f4a8287d0e2cc1d4c0427",
        )
    ],
}
HINTS = {
    "charge_invoice.created": ("invoice", "1031"),
    "charge_invoice.failed.constructed": ("invoice", "1031"),
    "charge_invoice.paid.constructed": ("invoice", "1031"),
    "charge_invoice.past_due.constructed": ("invoice", "1031"),
    "charge_invoice.updated.constructed": ("invoice", "1031"),
    "credit_invoice.created": ("credit_invoice", "1034"),
    "dunning_event.created": ("invoice", "1000"),
    "payment.failed": ("payment", "63abcf806e29cbfb3ec9c84e658777be"),
    "payment.refunded": ("payment", "63b06a9098839d7b45a18443b6b395a0"),
    "payment.succeeded": ("payment", "63b068f7d409d4b4478dea4e6aba58ae"),
    "payment.voided": ("payment", "63af16e06d659f949c37cc4f8cb2c5d0"),
}
COVERED = {f"recurly/{name}.xml" for name in EXPECTED} | {f"recurly/{name}.json" for name in HINTS}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_xml_sample_becomes_exactly_these_facts(name: str) -> None:
    translation = read(f"recurly/{name}.xml")
    assert events(translation) == EXPECTED[name]
    ignored = "irrelevant_event" if name.startswith("reactivated") else None
    assert translation == Translation(facts=translation.facts, ignored=ignored)


@pytest.mark.parametrize("name", HINTS)
def test_a_json_sample_becomes_exactly_this_hint(name: str) -> None:
    hint = Refresh("recurly", *HINTS[name])
    assert read(f"recurly/{name}.json") == Translation(refresh=(hint,))


@pytest.mark.parametrize(
    "name", ["successful_payment_notification", "successful_refund_notification"]
)
def test_a_test_transaction_is_ignored_in_live_mode(name: str) -> None:
    assert read(f"recurly/{name}.xml", mode="live") == Translation(ignored="other_mode")


def test_without_recurlys_own_mails_a_dunning_event_is_no_send() -> None:
    translation = read(f"recurly/{DUNNING}.xml", reminders=False)
    assert events(translation) == EXPECTED[DUNNING][:1]
