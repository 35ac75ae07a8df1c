"""A direct debit of one id that failed and is presented again holds reminders back (ADR 0005)."""

from typing import Any

from tests.support.build import at, invoice, reminder
from tests.support.given import given
from tests.support.told import posted

APPLIED = 1796169600  # 2026-12-02T00:00:00Z


def transaction(status: str, changed: int) -> list[Any]:
    """Chargebee's word on one transaction."""
    link = {"invoice_id": "inv_1", "applied_amount": 30000, "applied_at": APPLIED}
    told = {"id": "txn_1", "type": "payment", "status": status, "updated_at": changed}
    return list(
        posted(
            "chargebee",
            {
                "id": f"ev_{changed}",
                "occurred_at": changed,
                "event_type": "transaction_updated",
                "content": {"transaction": told | {"linked_invoices": [link]}},
            },
        )
    )


def test_in_progress_after_a_failure_is_in_flight_again() -> None:
    scenario = given(at("2026-12-04T10:00Z"), invoice(seen="2026-12-01T00:00Z"))
    scenario.when(*transaction("in_progress", APPLIED), reminder())
    scenario.then(status=409, code="payment_in_flight")
    scenario.when(*transaction("failure", APPLIED + 3600))
    scenario.when(*transaction("in_progress", APPLIED + 7200), reminder())
    scenario.then(status=409, code="payment_in_flight")
    scenario.when(*transaction("failure", APPLIED + 9000), reminder()).granted_now()
