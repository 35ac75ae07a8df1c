"""Postmark: pages and lines of its outbound messages, its activity as CSV, archived webhooks."""

from dataclasses import replace

from api.imports.fields import Fields
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow

_COPIES = ("To", "Cc", "Bcc")


class Postmark(Table):
    """A message has a list of all who get it, or three of them."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What a message or event tells. What a sandbox took went to nobody."""
        record = Fields(row.columns)
        fate = self.fate_of(record)
        if str(record.get("Sandboxed")).lower() == "true":
            fate = Fate.OTHER
        told = self.told_by(record, fate)
        if told.recipients is None:
            lists = [record.get(name) for name in _COPIES]
            return replace(told, recipients=[part for part in lists if part is not None])
        return told


POSTMARK = Postmark(
    name="postmark",
    marks=(
        ("MessageID", "MessageStream"),
        ("MessageID", "ReceivedAt", "Recipients"),
        ("MessageID", "ReceivedAt", "To"),
        ("MessageID", "RecordType"),
    ),
    at=("ReceivedAt", "SubmittedAt", "DeliveredAt", "Sent At", "Date", "Timestamp"),
    recipients=("Recipients", "Recipient", "Email"),
    id=("MessageID",),
    status=("Status", "RecordType", "Event", "Event Type", "Type"),
    fates=words(
        sent="Sent Processed Delivered Delivery",
        failed="Bounce Bounced HardBounce Failed Blocked Suppressed",
        other="""Queued Scheduled Open Opened Click Clicked LinkClick LinkClicked SpamComplaint
            SubscriptionChange SubscriptionChanged Transient Inbound Delayed SoftBounce""",
    ),
)
