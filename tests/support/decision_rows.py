"""Rows of the decision log for unit tests that count them."""

from ledger.application.ports import DecisionRow
from tests.support.build import at


def decision(sender: str, kind: str, status: int, code: str | None) -> DecisionRow:
    """The answer to one request for a permit."""
    return DecisionRow(
        decision_id="00000000-0000-0000-0000-000000000001",
        decided_at=at("2026-12-01"),
        position=1,
        operation="permit",
        key_id="key",
        sender=sender,
        kind=kind,
        customer_id=None,
        invoice_id=None,
        thread_id=None,
        status=status,
        code=code,
        replayed=False,
        policy="p",
        request=b"{}",
        answer=b"{}",
    )
