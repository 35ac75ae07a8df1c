"""Postmark: Basic credentials; bounces, complaints, deliveries and inbound mail."""

import re
from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.body_id import id_from_parts
from api.webhooks.bodies.mail_events import delivery, merged, message, not_delivered
from api.webhooks.bodies.mail_thread import MailHeaders
from api.webhooks.bodies.moments import from_mail_date
from api.webhooks.bodies.preferences import (
    BLOCKED,
    BOUNCED,
    COMPLAINED,
    UNSUBSCRIBED,
    of_list,
    preference,
)
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.send_token import token_in
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import Settings, Translation
from api.webhooks.signatures.basic import check_basic

_SAMPLE_ID = re.compile(r"[0-]+", re.ASCII)
_FOR_GOOD = frozenset(
    {"HardBounce", "BadEmailAddress", "ManuallyDeactivated", "Unsubscribe", "SpamNotification"}
)
_THIS_MAIL = frozenset(
    """Blocked DMARCPolicy DnsError SMTPApiError SoftBounce TemplateRenderingFailed Unconfirmed
    Undeliverable Unknown VirusNotification""".split()
)
"""Bounce types after which nobody gets this mail, unless Postmark made the address inactive too."""
_FOR_NOW = frozenset(
    """AddressChange AutoResponder ChallengeVerification InboundError OpenRelayTest Subscribe
    Transient""".split()
)
"""Bounce types of a mail that arrived, or that is still on its way."""
_REASONS = {"HardBounce": BOUNCED, "SpamComplaint": COMPLAINED}
_DEFAULT_STREAM = "outbound"


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
    if kind == "SubscriptionChange":
        return _change(record, settings)
    if kind not in ("Inbound", "Bounce", "SpamComplaint", "Delivery"):
        return Translation(ignored="irrelevant_event")
    may_lack = kind in ("Bounce", "SpamComplaint")
    message_id = record.optional_text("MessageID") if may_lack else record.text("MessageID")
    message_id = message_id or ""
    if settings.mode == "live" and _SAMPLE_ID.fullmatch(message_id):
        return Translation(ignored="dashboard_test_event")
    if kind == "Inbound":
        return _inbound(record, message_id, settings)
    if kind == "Delivery":
        at = record.optional_time("DeliveredAt")
        id = f"delivery:{message_id}:{at.isoformat() if at else record.members.get('Recipient')}"
        return _report(settings, id, "delivered", at, message_id, record, "Recipient")
    return _bounce(record, kind, message_id, settings)


def _bounce(record: Record, kind: str, message_id: str, settings: Settings) -> Translation:
    """What came back; some reports leave out the time, the address, or the mail."""
    bounce_type = "SpamComplaint" if kind == "SpamComplaint" else record.text("Type")
    at, id = record.optional_time("BouncedAt"), f"{kind.lower()}:{message_id}:{bounce_type}"
    if record.has("ID"):
        id = f"{kind.lower()}:{record.whole('ID')}"
    elif not message_id:
        id = id_from_parts(settings.source, id, at, record.members.get("Email"))
    if bounce_type == "SpamComplaint":
        return _report(settings, id, "complained", at, message_id, record, "Email")
    if bounce_type in _FOR_GOOD or record.flag("Inactive"):
        return _report(settings, id, "bounced", at, message_id, record, "Email")
    if bounce_type in _THIS_MAIL:
        return not_delivered("Postmark gave up on a mail; its address may still be good")
    if bounce_type in _FOR_NOW:
        return Translation(ignored="temporary_bounce")
    raise Unusable("unknown_status", f"{record.where('Type')} is no bounce type that is known")


def _report(
    settings: Settings,
    id: str,
    event: str,
    at: datetime | None,
    message_id: str,
    record: Record,
    recipient: str,
) -> Translation:
    return delivery(
        settings,
        "postmark",
        id,
        event,
        at,
        provider_message_id=message_id,
        recipient=record.optional_text(recipient),
        send_token=token_in(record.members.get("Metadata")),
    )


def _change(record: Record, settings: Settings) -> Translation:
    """Postmark stops mailing an address in one message stream, or mails it again.

    A reactivation does not say what had stopped it, so it lifts whatever Postmark may have held
    the address for. Neither it nor a suppression by hand names a mail.
    """
    stream, at = record.optional_text("MessageStream"), record.optional_time("ChangedAt")
    address, stopped = record.text("Recipient"), record.flag("SuppressSending")
    if stopped:
        why = record.optional_text("SuppressionReason") or ""
        by_hand = UNSUBSCRIBED if record.optional_text("Origin") == "Recipient" else BLOCKED
        reasons = [_REASONS.get(why) or _in_stream(by_hand, stream)]
    else:
        own = [_in_stream(reason, stream) for reason in (UNSUBSCRIBED, BLOCKED)]
        reasons = [BOUNCED, COMPLAINED, *own]
    id = id_from_parts(settings.source, "change", address, stream, at, stopped, *reasons)
    facts = (
        preference(settings, f"{id}:{reason}", address, reason, at, held=stopped)
        for reason in reasons
    )
    return merged(Translation(facts=(fact,)) for fact in facts)


def _in_stream(reason: str, stream: str | None) -> str:
    """Somebody who left one stream comes back to that stream, not to another that they left."""
    return reason if stream in (None, _DEFAULT_STREAM) else of_list(reason, "stream", stream)


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
