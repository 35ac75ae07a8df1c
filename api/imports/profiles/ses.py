"""Amazon SES: lines of event destinations and notifications, also as SNS and others wrap them."""

from collections.abc import Iterator
from dataclasses import replace
from io import BufferedReader
from typing import Any

import orjson

from api.imports.dates import Dates
from api.imports.fields import Fields, plain
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow

_WRAPPINGS = ("Message", "detail", "Sns", "body", "Body")
_DEEPEST = 4
_WENT_OUT = ("send", "delivery")
_TELLING = ("bounce", "reject", "renderingfailure", *_WENT_OUT)
"""Events of a copy by what they tell of it, the decisive ones first."""


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

    def rows(self, file: BufferedReader, kind: str, dates: Dates) -> Iterator[RawRow]:
        """The records of the log; a mail of the deliverability export is a row for each copy."""
        for row in Table.rows(self, file, kind, dates):
            insights = Fields(row.columns).get("Insights")
            if isinstance(insights, list):
                yield from (_copy(row, insight) for insight in insights)
            else:
                yield row

    def told(self, row: RawRow) -> Told:
        """What an event tells; the time is that at which SES took the mail."""
        record = Fields(self.unwrap(row.columns))
        fate = self.fate_of(record)
        if "last delivery event" in record and fate is Fate.OTHER:
            # The list of mails tells of each by the latest that became of it: it went out before.
            fate = Fate.SENT
        if fate is Fate.FAILED and record.text(("bounce.bounceType",)) == "Transient":
            fate = Fate.OTHER
        told = self.told_by(record, fate)
        return replace(told, message_id=told.message_id or _own_message_id(record))


def _copy(row: RawRow, insight: Any) -> RawRow:
    """One recipient's copy: when it went out, and the event that says most of what became of it."""
    told = Fields(insight if isinstance(insight, dict) else {})
    events = told.get("Events")
    named: dict[str, Fields] = {}
    for event in events if isinstance(events, list) else ():
        fields = Fields(event if isinstance(event, dict) else {})
        named.setdefault(plain(fields.text(("Type",)) or ""), fields)
    status = next((word for word in _TELLING if word in named), next(iter(named), None))
    sent = next((named[word] for word in _WENT_OUT if word in named), None)
    columns = {
        "messageId": Fields(row.columns).get("MessageId"),
        "destination": told.get("Destination"),
        "timestamp": sent and sent.get("Timestamp"),
        "status": status,
    }
    if status == "bounce":
        kind = named[status].text(("Details.Bounce.BounceType",))
        columns["bounce"] = {"bounceType": (kind or "").title()}
    return RawRow(row.line, columns, row.trouble)


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
        ("MessageId", "Insights"),
        ("Message ID", "Email address", "Last delivery event"),
    ),
    at=("mail.timestamp", "timestamp", "sent_at", "Sent date"),
    recipients=(
        "delivery.recipients",
        "bounce.bouncedRecipients",
        "mail.destination",
        "destination",
        "Email address",
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
