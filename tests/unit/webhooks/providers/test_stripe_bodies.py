"""Every Stripe sample: exactly these facts."""

import pytest

from api.webhooks.provider import Refresh, Translation
from tests.unit.webhooks.bodies import events, read

ZERO_EVENT = "evt_000000000000000000000000"
ZERO_INVOICE = {
    "invoice_id": "in_000000000000000000000000",
    "customer_id": "cus_00000000000000",
    "currency": "USD",
    "due_on": None,
}
EXAMPLE = {
    "invoice_id": "in_example_0001",
    "customer_id": "cus_example_0001",
    "email": "customer@example.com",
    "currency": "USD",
    "total": 24900,
    "issued_on": "2026-09-21",
}


def observed(id: str, at: str, /, **data: object) -> dict[str, object]:
    return {
        "id": id,
        "source": "stripe",
        "type": "invoice.observed",
        "time": at.replace("Z", "+00:00"),
        "data": {"observed_at": at, "precision": "second", **data},
    }


def fact(id: str, kind: str, at: str, /, **data: object) -> dict[str, object]:
    time = at.replace("Z", "+00:00")
    return {"id": id, "source": "stripe", "type": kind, "time": time, "data": data}


EXPECTED = {
    "invoice.created.draft.v2020": [
        observed(
            ZERO_EVENT,
            "2022-03-26T18:41:50Z",
            **ZERO_INVOICE,
            status="draft",
            total=1500,
            amount_remaining=1500,
        )
    ],
    "invoice.finalized.already_paid.v2020": [
        observed(
            ZERO_EVENT,
            "2022-03-26T18:40:15Z",
            **ZERO_INVOICE,
            status="paid",
            total=2000,
            amount_remaining=0,
            issued_on="2022-03-26",
        )
    ],
    "invoice.paid.v2020": [
        observed(
            ZERO_EVENT,
            "2022-03-26T18:40:15Z",
            **ZERO_INVOICE,
            status="paid",
            total=2000,
            amount_remaining=0,
            issued_on="2022-03-26",
        )
    ],
    "invoice.payment_failed.v2020": [
        observed(
            ZERO_EVENT,
            "2022-03-26T18:40:09Z",
            **ZERO_INVOICE,
            status="open",
            total=2000,
            amount_remaining=2000,
            issued_on="2022-03-26",
        ),
        fact(
            f"{ZERO_EVENT}:failed",
            "invoice.payment_failed",
            "2022-03-26T18:40:09Z",
            invoice_id="in_000000000000000000000000",
            event_id=ZERO_EVENT,
            attempt_id="ch_000000000000000000000000",
        ),
    ],
    "invoice.updated.opened.v2019": [
        observed(
            "evt_1EjL0IHuGUuNWDDZCFLOYrNv",
            "2019-06-09T06:59:45Z",
            invoice_id="in_1EjKuzHuGUuNWDDZmFUP3FxU",
            customer_id="cus_FDmT2sIGjFskP2",
            email="customer@example.com",
            currency="USD",
            status="open",
            total=3000,
            amount_remaining=3000,
            issued_on="2019-06-09",
            due_on="2019-07-09",
        )
    ],
    "invoice.marked_uncollectible.dashboard_test_event.v2018": [
        observed(
            "invoice.marked_00000000000000",
            "2012-01-18T02:24:38Z",
            invoice_id="in_00000000000000",
            customer_id="cus_00000000000000",
            currency="USD",
            status="open",
            total=1000,
            amount_remaining=1000,
            issued_on="2019-01-07",
            due_on="2019-02-06",
        )
    ],
    "invoice.overdue.constructed": [
        observed(
            "evt_example_overdue_1",
            "2026-10-22T14:13:20Z",
            **EXAMPLE,
            status="open",
            amount_remaining=24900,
            due_on="2026-10-21",
        )
    ],
    "invoice.updated.due_date_changed.constructed": [
        observed(
            "evt_example_due_date_1",
            "2026-10-23T14:13:20Z",
            **EXAMPLE,
            status="open",
            amount_remaining=24900,
            due_on="2026-11-05",
        )
    ],
    "invoice.updated.partially_paid.constructed": [
        observed(
            "evt_example_partial_1",
            "2026-10-24T14:13:20Z",
            **EXAMPLE,
            status="open",
            amount_remaining=4900,
            due_on="2026-11-05",
        )
    ],
    "credit_note.created.pre_payment.constructed": [
        fact(
            "evt_example_credit_note_1",
            "invoice.credit",
            "2026-10-25T14:13:20Z",
            invoice_id="in_example_0001",
            credit_id="cn_example_0001",
            amount=4900,
        )
    ],
    "invoice.voided.constructed": [
        observed(
            "evt_example_voided_1",
            "2026-10-31T14:13:20Z",
            **EXAMPLE,
            status="void",
            amount_remaining=24900,
            due_on="2026-10-21",
        )
    ],
    "invoice.marked_uncollectible.constructed": [
        observed(
            "evt_example_uncollectible_1",
            "2026-12-20T14:13:20Z",
            **EXAMPLE,
            status="uncollectible",
            amount_remaining=4900,
            due_on="2026-11-05",
        )
    ],
    "invoice_payment.paid.basil": [
        fact(
            "evt_example_invoice_payment_paid_1",
            "invoice.payment",
            "2026-02-24T01:20:40Z",
            invoice_id="in_1T4AIkGWAy8DppqhJAdbjaWb",
            payment_id="pi_3T4AIlGWAy8Dppqh3Vsl9Pya",
            amount=2000,
            state="succeeded",
        )
    ],
}
EXPECTED["invoice.deleted.status_deleted.v2020"] = [
    observed(
        "evt_example_1006",
        "2023-07-17T22:56:25Z",
        invoice_id="in_example_1006",
        customer_id="cus_example_1006",
        email="customer@example.com",
        currency="USD",
        status="void",
        total=1000,
        amount_remaining=0,
        due_on="2023-08-16",
    )
]
EXPECTED["customer.updated.email_removed.v2020"] = [
    fact(
        "evt_example_1008",
        "customer.observed",
        "2022-03-26T18:41:50Z",
        customer_id="cus_example_1008",
        emails=[],
    )
]
HINTS = {
    "payment_intent.processing.clover.constructed": ("payment_intent", "pi_example_1007"),
    "v1.invoice.payment_failed.thin.constructed": ("invoice", "in_example_1001"),
}
NOTHING = {"charge.refunded.v2020": Translation(ignored="names_no_invoice")}
"""The sample charge belongs to no invoice."""
COVERED = {f"stripe/{name}.json" for name in (*EXPECTED, *NOTHING, *HINTS)}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_becomes_exactly_these_facts(name: str) -> None:
    translation = read(f"stripe/{name}.json")
    assert events(translation) == EXPECTED[name]
    assert translation == Translation(facts=translation.facts)


@pytest.mark.parametrize("name", HINTS)
def test_a_sample_that_names_its_object_is_fetched(name: str) -> None:
    hint = Refresh("stripe", *HINTS[name])
    assert read(f"stripe/{name}.json") == Translation(refresh=(hint,))


@pytest.mark.parametrize("name", NOTHING)
def test_a_sample_that_says_nothing_is_ignored(name: str) -> None:
    assert read(f"stripe/{name}.json") == NOTHING[name]


@pytest.mark.parametrize("name", [*EXPECTED, *NOTHING, *HINTS])
def test_test_mode_is_ignored_in_live_mode(name: str) -> None:
    ignored = read(f"stripe/{name}.json", mode="live").ignored
    real = ("constructed", "basil", "opened", "status_deleted", "email_removed")
    assert ignored == (
        "other_mode" if any(word in name for word in real) else "dashboard_test_event"
    )
