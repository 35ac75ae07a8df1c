"""What the ledger itself asks permits for: the mails of a claim, and the probes of a check."""

from typing import Any

from ledger.application.kinds.kind import PermitSubject
from ledger.application.kinds.notification import Notification
from ledger.application.kinds.reminder import Reminder


def claim_of(invoices: tuple[str, ...], stage: str | None) -> tuple[PermitSubject, dict[str, Any]]:
    """A claim's mail about these invoices, and the request as the decision log keeps it."""
    subject = Reminder(invoices, stage, {}, claim=True)
    request = {"kind": subject.kind, "invoices": invoices, "stage": stage, "claim": True}
    return subject, request


def notice_of(
    customer_id: str, event_type: str, event_id: str
) -> tuple[PermitSubject, dict[str, Any]]:
    """A customer's notice about an event, and the request as the decision log keeps it."""
    subject = Notification(event_type, event_id, customer_id)
    request = {
        "kind": subject.kind,
        "customer_id": customer_id,
        "event_type": event_type,
        "event_id": event_id,
    }
    return subject, request
