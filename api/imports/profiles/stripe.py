"""Stripe: events that say it mailed an invoice, and its log of mails to customers."""

from typing import Any

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate
from api.imports.profiles.table import Table, words


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """An event's invoice beside the event's own id, type and time."""
    data = record.get("data")
    inner = data.get("object") if isinstance(data, dict) else None
    if record.get("object") != "event" or not isinstance(inner, dict):
        return record
    customer = inner.get("customer")
    return {
        "event_id": record.get("id"),
        "event": record.get("type"),
        "created": record.get("created"),
        "invoice": inner.get("id") if inner.get("object") == "invoice" else None,
        "customer": customer.get("id") if isinstance(customer, dict) else customer,
        "customer_email": inner.get("customer_email") or inner.get("receipt_email"),
    }


class Stripe(Table):
    """Of all events only `invoice.sent` says that a mail went out; reminders are not told of."""

    __slots__ = ()

    def fate_of(self, record: Fields) -> Fate:
        """Sent for that event, and for what the log of mails calls so."""
        event = record.text(("event",))
        if event is not None and "." in event:
            return Fate.SENT if event == "invoice.sent" else Fate.OTHER
        return Table.fate_of(self, record)


STRIPE = Stripe(
    name="stripe",
    marks=(("event_id", "event", "created"),),
    at=("created", "sent_at", "sent", "date"),
    recipients=("customer_email", "recipient", "to", "email"),
    id=("event_id", "id", "email id"),
    customer=("customer", "customer id"),
    invoice=("invoice", "invoice id"),
    status=("event", "status"),
    fates=words(
        sent="sent delivered opened clicked processed",
        failed="bounced failed dropped blocked rejected undeliverable suppressed",
        other="queued scheduled pending deferred",
    ),
    unwrap=_unwrap,
)
