"""Every Chargebee sample: exactly these facts."""

import pytest

from api.webhooks.provider import Translation
from tests.unit.webhooks.bodies import events, read


def observed(id: str, at: str, version: int, /, **data: object) -> dict[str, object]:
    observed_at = at.replace("+00:00", "Z")
    told = {"observed_at": observed_at, "precision": "second", "payment_in_flight": False}
    return fact(id, "invoice.observed", at, version=version, **told, **data)


def fact(id: str, kind: str, at: str, /, **data: object) -> dict[str, object]:
    return {"id": id, "source": "chargebee", "type": kind, "time": at, "data": data}


INVOICE_19 = {
    "invoice_id": "19",
    "customer_id": "16CHTpRzjKx2O7mo",
    "currency": "USD",
    "total": 500000,
    "issued_on": "2020-09-18",
    "due_on": "2020-10-18",
}
EXPECTED = {
    "invoice_generated.posted": [
        observed(
            "ev_16CHTnSAx2s7J5Kv",
            "2020-09-18T14:46:53.171000+00:00",
            1600440413171,
            **INVOICE_19,
            status="open",
            amount_remaining=500000,
        )
    ],
    "invoice_updated.payment_due": [
        observed(
            "ev_16BgNRSDmSfQB2sPm",
            "2020-10-18T14:46:59.689000+00:00",
            1603032419689,
            **INVOICE_19,
            status="open",
            amount_remaining=500000,
        )
    ],
    "invoice_updated.partially_paid.constructed": [
        observed(
            "ev_example_partial_1",
            "2020-10-20T13:20:00.007000+00:00",
            1603200000007,
            **INVOICE_19,
            status="open",
            amount_remaining=50000,
        )
    ],
    "invoice_updated.voided.constructed": [
        observed(
            "ev_example_void_1",
            "2020-10-21T17:06:40.007000+00:00",
            1603300000007,
            **INVOICE_19,
            status="void",
            amount_remaining=0,
        )
    ],
    "payment_failed": [
        observed(
            "ev_3Nl7oGgQqGG8UK4s",
            "2013-04-01T19:40:55+00:00",
            1364845255000,
            invoice_id="6",
            customer_id="3Nl7oGgQqGFprj9",
            email="customer@example.com",
            currency="USD",
            total=1095,
            amount_remaining=224,
            status="open",
            issued_on="2013-04-01",
            due_on="2013-04-01",
        ),
        fact(
            "ev_3Nl7oGgQqGG8UK4s:payment:6",
            "invoice.payment",
            "2013-04-01T19:40:55+00:00",
            invoice_id="6",
            payment_id="txn_3Nl7oGgQqGG8Pp4m",
            amount=224,
            state="failed",
        ),
        fact(
            "ev_3Nl7oGgQqGG8UK4s:failed",
            "invoice.payment_failed",
            "2013-04-01T19:40:55+00:00",
            invoice_id="6",
            event_id="ev_3Nl7oGgQqGG8UK4s",
            attempt_id="txn_3Nl7oGgQqGG8Pp4m",
            subscription_id="3Nl7oGgQqGFprj9",
        ),
    ],
    "payment_failed.with_dunning_attempts": [
        observed(
            "ev_example_payment_failed_1",
            "2023-04-27T09:34:44.806000+00:00",
            1682588084806,
            invoice_id="3065",
            customer_id="1mbDWfyRLtX1eX1WGs",
            currency="USD",
            total=100,
            amount_remaining=100,
            status="open",
            issued_on="2023-04-27",
            due_on="2023-04-27",
        ),
        fact(
            "ev_example_payment_failed_1:payment:3065",
            "invoice.payment",
            "2023-04-27T09:34:44+00:00",
            invoice_id="3065",
            payment_id="txn_169nryTccS7kM5men",
            amount=100,
            state="failed",
        ),
        fact(
            "ev_example_payment_failed_1:failed",
            "invoice.payment_failed",
            "2023-04-27T09:34:44+00:00",
            invoice_id="3065",
            event_id="ev_example_payment_failed_1",
            attempt_id="txn_169nryTccS7kM5men",
        ),
    ],
    "payment_refunded": [
        observed(
            "ev_3Nl7oGgQqGG0Dl3f",
            "2013-03-02T19:41:07+00:00",
            1362253267000,
            invoice_id="1",
            customer_id="3Nl7oGgQqGFprj9",
            email="customer@example.com",
            currency="USD",
            total=995,
            amount_remaining=0,
            status="paid",
            issued_on="2012-08-07",
            due_on="2012-08-07",
        ),
        fact(
            "ev_3Nl7oGgQqGG0Dl3f:refund:1",
            "invoice.refund_noted",
            "2013-03-02T19:41:07+00:00",
            invoice_id="1",
            refund_id="txn_3Nl7oGgQqGG07E3V",
        ),
    ],
    "payment_succeeded.offline": [
        observed(
            "ev_AzqYRySIstMN16O",
            "2020-12-11T17:35:03.484000+00:00",
            1607708103484,
            invoice_id="22",
            customer_id="16BjsrSIh4AdLqkD",
            email="customer@example.com",
            currency="USD",
            total=450000,
            amount_remaining=0,
            status="paid",
            issued_on="2020-12-11",
            due_on="2020-12-11",
        ),
        fact(
            "ev_AzqYRySIstMN16O:payment:22",
            "invoice.payment",
            "2020-12-11T17:35:03+00:00",
            invoice_id="22",
            payment_id="txn_AzqYRySIstMLf6N",
            amount=450000,
            state="succeeded",
        ),
    ],
    "transaction_updated.settled": [
        fact(
            "ev_3Nl7oGgQqGG6GP3t:payment:4",
            "invoice.payment",
            "2013-03-02T19:41:30+00:00",
            invoice_id="4",
            payment_id="txn_3Nl7oGgQqGG4tN3n",
            amount=1000,
            state="succeeded",
        )
    ],
}
EXPECTED["customer_changed"] = [
    fact(
        "ev_AzqgumSAxXrFLAxn",
        "customer.observed",
        "2020-09-18T16:49:58+00:00",
        customer_id="16CHTnSAxXWqMAg8",
        emails=[],
    )
]
"""A customer who has no address, or none any more."""
NOTHING = {
    "credit_note_created": Translation(ignored="changes_no_balance"),
}
"""A refundable credit that is allocated to no invoice yet."""
COVERED = {f"chargebee/{name}.json" for name in (*EXPECTED, *NOTHING)}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_becomes_exactly_these_facts(name: str) -> None:
    translation = read(f"chargebee/{name}.json")
    assert events(translation) == EXPECTED[name]
    assert translation == Translation(facts=translation.facts)


@pytest.mark.parametrize("name", NOTHING)
def test_a_sample_that_says_nothing_is_ignored(name: str) -> None:
    assert read(f"chargebee/{name}.json") == NOTHING[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_chargebee_events_carry_no_mode(name: str) -> None:
    path = f"chargebee/{name}.json"
    assert read(path, mode="live") == read(path, mode="test")
