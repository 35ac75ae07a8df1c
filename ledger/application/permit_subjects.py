"""What a permit can be asked for: one subject for each kind of mail."""

from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from ledger.domain.identity import Address


@dataclass(frozen=True, slots=True)
class Expected:
    """What the sender believes of an invoice."""

    cycle: int | None = None
    amount_remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Reminder:
    """A reminder for one or more invoices of one customer; `stage` None takes the due one."""

    invoices: tuple[str, ...]
    stage: str | None = None
    expected: dict[str, Expected] = field(default_factory=dict)
    claim: bool = False


@dataclass(frozen=True, slots=True)
class PaymentFailedNotice:
    """The mail about a failed payment, once per event and once per attempt."""

    invoice_id: str
    event_id: str
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one inbound message."""

    thread_id: str
    in_reply_to: str
    customer_id: str | None = None
    to: Address | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A notice about one event of the business."""

    event_type: str
    event_id: str
    customer_id: str | None = None
    to: Address | None = None
    thread_id: str | None = None


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of an inbox for one day."""

    inbox_id: str
    date: date
    customer_id: str | None = None
    to: Address | None = None
    thread_id: str | None = None


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A numbered follow-up in a thread."""

    thread_id: str
    step: int
    customer_id: str | None = None
    to: Address | None = None


@dataclass(frozen=True, slots=True)
class IntentMessage:
    """A message with an intent, once in its thread."""

    thread_id: str
    intent: str
    customer_id: str | None = None
    to: Address | None = None


@dataclass(frozen=True, slots=True)
class ApologyRequest:
    """The one apology of an incident to a customer."""

    incident_id: str
    customer_id: str


PermitSubject: TypeAlias = (
    Reminder
    | PaymentFailedNotice
    | Reply
    | Notification
    | Digest
    | FollowUp
    | IntentMessage
    | ApologyRequest
)

KINDS: dict[type, str] = {
    Reminder: "reminder",
    PaymentFailedNotice: "payment_failed",
    Reply: "reply",
    Notification: "notification",
    Digest: "digest",
    FollowUp: "follow_up",
    IntentMessage: "message",
    ApologyRequest: "apology",
}
"""The kind of permit that each subject asks for."""
