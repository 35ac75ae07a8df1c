"""Postmark: Basic credentials; bounces, complaints, deliveries and inbound mail."""

import re
from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.mail_events import delivery, message
from api.webhooks.bodies.mail_thread import MailHeaders
from api.webhooks.bodies.moments import from_mail_date
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import Settings, Translation
from api.webhooks.signatures.basic import check_basic

_SAMPLE_ID = re.compile(r"[0-]+", re.ASCII)
_FOR_GOOD = frozenset(
    {"HardBounce", "BadEmailAddress", "ManuallyDeactivated", "Unsubscribe", "SpamNotification"}
)
_FOR_NOW = frozenset(
    """AddressChange AutoResponder Blocked ChallengeVerification DMARCPolicy DnsError OpenRelayTest
    SMTPApiError SoftBounce Subscribe TemplateRenderingFailed Transient Unconfirmed Unknown
    VirusNotification InboundError""".split()
)
"""Bounce types after which the address may still be good, unless Postmark made it inactive."""


class Postmark:
    """https://postmarkapp.com/developer/webhooks/webhooks-overview"""

    name = "postmark"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Postmark does not sign; it sends the Basic credentials of the webhook's URL."""
        check_basic(headers, settings.secrets)

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one record means; the sample with the all-zero id is ignored in live mode."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    record = Record(read_json_object(body))
    kind = record.optional_text("RecordType") or "Inbound"
    if kind not in ("Inbound", "Bounce", "SpamComplaint", "Delivery"):
        return Translation(ignored="irrelevant_event")
    message_id = record.text("MessageID")
    if settings.mode == "live" and _SAMPLE_ID.fullmatch(message_id):
        return Translation(ignored="dashboard_test_event")
    if kind == "Inbound":
        return _inbound(record, message_id, settings)
    if kind == "Delivery":
        at = record.time("DeliveredAt")
        id = f"delivery:{message_id}:{at.isoformat()}"
        return _report(settings, id, "delivered", at, message_id)
    id, at = f"{kind.lower()}:{record.whole('ID')}", record.time("BouncedAt")
    if kind == "SpamComplaint" or record.optional_text("Type") == "SpamComplaint":
        return _report(settings, id, "complained", at, message_id)
    bounce_type = record.text("Type")
    if bounce_type in _FOR_GOOD or record.flag("Inactive"):
        return _report(settings, id, "bounced", at, message_id)
    if bounce_type in _FOR_NOW:
        return Translation(ignored="temporary_bounce")
    raise Unusable("unknown_status", f"{record.where('Type')} is no bounce type that is known")


def _report(settings: Settings, id: str, event: str, at: datetime, message_id: str) -> Translation:
    return delivery(settings, "postmark", id, event, at, provider_message_id=message_id)


def _inbound(record: Record, postmark_id: str, settings: Settings) -> Translation:
    reply_to = record.members.get("ReplyTo")
    mail = MailHeaders.from_records(record.records("Headers"), "Name", "Value")
    message_id = mail.message_id or postmark_id
    return message(
        settings,
        f"inbound:{postmark_id}",
        thread_id=mail.thread_id or message_id,
        message_id=message_id,
        direction="inbound",
        sender=record.record("FromFull").text("Email"),
        recipient=record.optional_text("OriginalRecipient"),
        time=from_mail_date(record.members.get("Date"), record.where("Date")),
        references=mail.references,
        headers=mail.by_name,
        return_path=mail.by_name.get("return-path"),
        reply_to=reply_to if isinstance(reply_to, str) else None,
    )
