"""Amazon SES: lines of event destinations and notifications, also as SNS and others wrap them."""

from dataclasses import replace
from typing import Any

import orjson

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow

_WRAPPINGS = ("Message", "detail", "Sns", "body", "Body")
_DEEPEST = 4


def _unwrap(record: dict[str, Any]) -> dict[str, Any]:
    """The event in an SNS message, in a queue's or a function's record, in an EventBridge event."""
    for _ in range(_DEEPEST):
        if isinstance(record.get("mail"), dict):
            return record
        inner = next((record[name] for name in _WRAPPINGS if record.get(name)), None)
        if isinstance(inner, str):
            try:
                inner = orjson.loads(inner)
            except orjson.JSONDecodeError:
                return record
        if not isinstance(inner, dict):
            return record
        record = inner
    return record


class Ses(Table):
    """A mail is told of as a whole (`Send`) or by recipient (`Delivery`, `Bounce`)."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What an event tells; the time is that at which SES took the mail."""
        record = Fields(self.unwrap(row.columns))
        fate = self.fate_of(record)
        if fate is Fate.FAILED and record.text(("bounce.bounceType",)) == "Transient":
            fate = Fate.OTHER
        told = self.told_by(record, fate)
        return replace(told, message_id=told.message_id or _own_message_id(record))


def _own_message_id(record: Fields) -> str | None:
    """The Message-ID that we gave: SES replaces it by its own."""
    headers = record.get("mail.headers")
    for header in headers if isinstance(headers, list) else ():
        if isinstance(header, dict) and str(header.get("name")).lower() == "message-id":
            return str(header.get("value"))
    return None


SES = Ses(
    name="ses",
    marks=(
        ("mail.messageId", "mail.destination", "eventType"),
        ("mail.messageId", "mail.destination", "notificationType"),
        ("mail.messageId", "mail.timestamp"),
    ),
    at=("mail.timestamp", "timestamp", "sent_at", "Sent date"),
    recipients=(
        "delivery.recipients",
        "bounce.bouncedRecipients",
        "mail.destination",
        "destination",
    ),
    id=("mail.messageId", "messageId"),
    message_id=("mail.commonHeaders.messageId",),
    status=("eventType", "notificationType", "last delivery event", "status"),
    fates=words(
        sent="Send Delivery Sent Delivered",
        failed="Bounce Reject RenderingFailure Permanent_Bounce Undetermined_Bounce",
        other="""Complaint Open Click DeliveryDelay Subscription Received Transient_Bounce
            AmazonSnsSubscriptionSucceeded""",
    ),
    unwrap=_unwrap,
)
