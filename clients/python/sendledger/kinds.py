"""What may be asked for: a function for each kind of mail, with the fields of the kind.

The ledger's guide for senders says what each kind is sent once for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Day
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

Fields = Mapping[str, Any]


class Common(TypedDict, total=False):
    """Fields that every kind takes: copies, a deliberate repeat, a job's lease, notes."""

    cc: Sequence[str]
    override: Fields
    job: Fields
    metadata: Mapping[str, str]


class Timely(Common, total=False):
    """Fields of mail about something that happened: when, and from when on it is too late."""

    happened_at: datetime | str
    not_after: datetime | str


@dataclass(frozen=True)
class Ask:
    """A request for a permit; it may be asked as often as one likes."""

    kind: str
    fields: Fields

    @property
    def body(self) -> dict[str, Any]:
        """The request as the ledger takes it; what was not given is left out."""
        given = {name: value for name, value in self.fields.items() if value is not None}
        return {"kind": self.kind, **plain(given)}


def reminder(
    *,
    invoices: Sequence[str],
    stage: str | None = None,
    expected: Mapping[str, Fields] | None = None,
    facts: Mapping[str, Fields] | None = None,
    **more: Unpack[Common],
) -> Ask:
    """A reminder of invoices of one customer: once for each invoice, past-due cycle and stage."""
    own = {"invoices": invoices, "stage": stage, "expected": expected, "facts": facts}
    return Ask("reminder", {**own, **more})


def payment_failed(
    *,
    invoice_id: str,
    event_id: str,
    attempt_id: str | None = None,
    subscription_id: str | None = None,
    facts: Mapping[str, Fields] | None = None,
    **more: Unpack[Common],
) -> Ask:
    """The mail about a failed payment: once for each failure."""
    own = {
        "invoice_id": invoice_id,
        "event_id": event_id,
        "attempt_id": attempt_id,
        "subscription_id": subscription_id,
        "facts": facts,
    }
    return Ask("payment_failed", {**own, **more})


def reply(
    *,
    thread_id: str,
    in_reply_to: str,
    message: Fields | None = None,
    customer_id: str | None = None,
    to: str | None = None,
    **more: Unpack[Common],
) -> Ask:
    """An answer to an inbound message: once for each message.

    `message` is the message as the ledger takes it (`thread.message`): with its headers, so that no
    machine is answered.
    """
    own = {
        "thread_id": thread_id,
        "in_reply_to": in_reply_to,
        "message": message,
        "customer_id": customer_id,
        "to": to,
    }
    return Ask("reply", {**own, **more})


def message(
    *,
    thread_id: str,
    intent: str,
    customer_id: str | None = None,
    to: str | None = None,
    **more: Unpack[Timely],
) -> Ask:
    """A message of a program's own in a thread: once for each thread and intent."""
    own = {"thread_id": thread_id, "intent": intent, "customer_id": customer_id, "to": to}
    return Ask("message", {**own, **more})


def follow_up(
    *,
    thread_id: str,
    step: int,
    customer_id: str | None = None,
    to: str | None = None,
    **more: Unpack[Timely],
) -> Ask:
    """A numbered follow-up: once for each thread and step, and none after a person answered."""
    own = {"thread_id": thread_id, "step": step, "customer_id": customer_id, "to": to}
    return Ask("follow_up", {**own, **more})


def notification(
    *,
    event_type: str,
    event_id: str,
    customer_id: str | None = None,
    to: str | None = None,
    thread_id: str | None = None,
    subscription_id: str | None = None,
    **more: Unpack[Timely],
) -> Ask:
    """The mail about a business event: once for each. Name a customer, an address, or both."""
    own = {
        "event_type": event_type,
        "event_id": event_id,
        "customer_id": customer_id,
        "to": to,
        "thread_id": thread_id,
        "subscription_id": subscription_id,
    }
    return Ask("notification", {**own, **more})


def digest(
    *,
    inbox_id: str,
    date: Day | str,
    customer_id: str | None = None,
    to: str | None = None,
    thread_id: str | None = None,
    **more: Unpack[Timely],
) -> Ask:
    """The digest of an inbox: once for each inbox and day."""
    own = {
        "inbox_id": inbox_id,
        "date": date,
        "customer_id": customer_id,
        "to": to,
        "thread_id": thread_id,
    }
    return Ask("digest", {**own, **more})


def apology(*, incident_id: str, customer_id: str, **more: Unpack[Common]) -> Ask:
    """The apology of an incident: once for each incident and customer."""
    return Ask("apology", {"incident_id": incident_id, "customer_id": customer_id, **more})


def plain(fields: Fields) -> dict[str, Any]:
    """The same with times as JSON has them. Raises ValueError for a time without an offset."""
    return {str(name): _json(value) for name, value in fields.items()}


def _json(value: Any) -> Any:
    """A value as JSON has it. Raises ValueError for a time without an offset."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time needs an offset, such as datetime.now(timezone.utc) has")
        return value.isoformat()
    if isinstance(value, Day):
        return value.isoformat()
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(one) for one in value]
    return value
