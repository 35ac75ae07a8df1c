"""Postmark: pages and lines of its outbound messages, its activity as CSV, archived webhooks."""

from dataclasses import replace

from api.imports.fields import Fields, plain
from api.imports.profiles.profile import Fate, Told
from api.imports.profiles.table import Table, words
from api.imports.rows import RawRow

_ARRIVED = frozenset(
    """addresschange autoresponder challengeverification inbounderror openrelaytest
    spamcomplaint spamnotification subscribe transient unsubscribe""".split()
)
"""Types of a `Bounce` whose mail arrived, or is still on its way."""
_COPIES = ("To", "Cc", "Bcc")


class Postmark(Table):
    """A message has a list of all who get it, or three of them."""

    __slots__ = ()

    def told(self, row: RawRow) -> Told:
        """What a message or event tells. What a sandbox took went to nobody."""
        record = Fields(row.columns)
        fate = self.fate_of(record)
        if fate is Fate.FAILED and plain(record.text(("Type",)) or "") in _ARRIVED:
            fate = Fate.OTHER
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
        ("MessageID", "BouncedAt"),
    ),
    at=("ReceivedAt", "SubmittedAt", "DeliveredAt", "Sent At", "Date", "Timestamp"),
    recipients=("Recipients", "Recipient", "Email"),
    id=("MessageID",),
    status=("Status", "RecordType", "Event", "Event Type", "Type"),
    fates=words(
        sent="Sent Processed Delivered Delivery",
        failed="""Bounce Bounced HardBounce Failed Blocked Suppressed BadEmailAddress DMARCPolicy
            DnsError ManuallyDeactivated SMTPApiError TemplateRenderingFailed Undeliverable Unknown
            VirusNotification""",
        other="""AddressChange AutoResponder ChallengeVerification InboundError OpenRelayTest
            SpamNotification Subscribe Unconfirmed Unsubscribe
            Queued Scheduled Open Opened Click Clicked LinkClick LinkClicked SpamComplaint
            SubscriptionChange SubscriptionChanged Transient Inbound Delayed SoftBounce""",
    ),
)
