"""Amazon SES over SNS: a signed envelope, and JSON inside its `Message` string."""

from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.mail_events import delivery, merged, message, not_delivered
from api.webhooks.bodies.mail_report import reports_in
from api.webhooks.bodies.mail_thread import MailHeaders
from api.webhooks.bodies.preferences import UNSUBSCRIBED, of_list, preference
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.send_token import token_in
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import BadSignature, Rejected, Settings, Translation
from api.webhooks.signatures.sns_signature import check_sns_signature
from api.webhooks.signatures.strict_base64 import NotBase64, decode_base64

_REPORTS = {
    "Delivery": ("delivered", "delivery", "recipients"),
    "Bounce": ("bounced", "bounce", "bouncedRecipients"),
    "Complaint": ("complained", "complaint", "complainedRecipients"),
}
"""What each report means, under which name it stands, and where it names its recipients."""
_CONFIRM = Rejected(
    "subscription_confirmation_needed",
    "open the SubscribeURL of the kept body to let the SNS topic post here",
)
_REMOVED = Rejected("subscription_removed", "the SNS topic's subscription of this endpoint ended")


class Ses:
    """https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html"""

    name = "ses"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check the SNS signature; the secrets are the ARNs of the topics that may post here."""
        try:
            envelope = Record(read_json_object(body))
        except Unusable:
            raise BadSignature("the body is no SNS message") from None
        if envelope.has("notificationType") or envelope.has("eventType"):
            raise BadSignature("raw messages are unsigned: switch raw message delivery off in SNS")
        check_sns_signature(envelope, settings.secrets, settings.fetch_certificate, now)

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one message means; a topic that asks to be confirmed is left to a person."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    envelope = Record(read_json_object(body))
    kind = envelope.text("Type")
    if kind == "SubscriptionConfirmation":
        return Translation(rejected=(_CONFIRM,))
    if kind == "UnsubscribeConfirmation":
        return Translation(rejected=(_REMOVED,))
    inner = envelope.members.get("Message")
    if not isinstance(inner, str):
        raise Unusable("missing_field", "Message is missing")
    if not inner.lstrip().startswith("{"):
        return Translation(ignored="irrelevant_event")
    return _event(envelope.text("MessageId"), Record(read_json_object(inner), "Message"), settings)


def _event(id: str, event: Record, settings: Settings) -> Translation:
    """SES replaces our Message-ID by its own, so both are given where both are known."""
    name = "eventType" if event.has("eventType") else "notificationType"
    kind = event.text(name)
    if kind == "Received":
        return _received(id, event, settings)
    if kind in ("Reject", "Rendering Failure"):
        return not_delivered("SES could not send a mail that it had accepted")
    if kind == "Subscription":
        return _preferences(id, event, settings)
    if kind not in _REPORTS:
        return Translation(ignored="irrelevant_event")
    meaning, part, named = _REPORTS[kind]
    report, mail = event.record(part), event.optional_record("mail")
    if kind == "Bounce" and report.text("bounceType") != "Permanent":
        return not_delivered("SES gave up on a mail; its address may still be good")
    if kind == "Complaint" and report.optional_text("complaintFeedbackType") == "not-spam":
        return Translation(ignored="not_spam")
    found = tuple(dict.fromkeys(_recipients(report, named)))
    return merged(
        delivery(
            settings,
            "ses",
            f"{id}:{number}" if number else id,
            meaning,
            report.optional_time("timestamp"),
            provider_message_id=mail.optional_text("messageId"),
            message_id=mail.optional_record("commonHeaders").optional_text("messageId"),
            recipient=recipient,
            send_token=token_in(mail.members.get("headers")),
        )
        for number, recipient in enumerate(found or (None,))
    )


def _recipients(report: Record, name: str) -> tuple[str, ...]:
    """Whom a report speaks of: one mail to several people can bounce from some of them."""
    if name == "recipients":
        return report.texts(name)
    return tuple(recipient.text("emailAddress") for recipient in report.records(name))


def _preferences(id: str, event: Record, settings: Settings) -> Translation:
    """Somebody changed what they want of a contact list: all of it, or topics of it.

    The new preferences are a state: each topic in it is held or released. SES mails one person at
    a time where it manages their preferences, so the mail's destination is who changed them.
    """
    change, mail = event.record("subscription"), event.record("mail")
    new = change.record("newTopicPreferences")
    contacts = change.optional_text("contactList") or ""
    wanted = [(of_list(UNSUBSCRIBED, "list", contacts), new.flag("unsubscribeAll"))]
    for topic in new.records("topicSubscriptionStatus"):
        name = f"{topic.text('topicName')} of {contacts}"
        out = topic.text("subscriptionStatus").lower() == "optout"
        wanted.append((of_list(UNSUBSCRIBED, "topic", name), out))
    at = change.optional_time("timestamp")
    addresses = mail.texts("destination")
    if not addresses:
        raise Unusable("missing_field", f"{mail.where('destination')} is empty")
    parts = [(address, *part) for address in addresses for part in wanted]
    return Translation(
        facts=tuple(
            preference(settings, f"{id}:{number}", address, reason, at, held=held, whole=False)
            for number, (address, reason, held) in enumerate(parts)
        )
    )


def _received(id: str, event: Record, settings: Settings) -> Translation:
    mail = event.record("mail")
    headers = MailHeaders.from_records(mail.records("headers"), "name", "value")
    common = mail.optional_record("commonHeaders")
    message_id = headers.message_id or common.text("messageId")
    senders, recipients = common.texts("from"), mail.texts("destination")
    if not senders:
        raise Unusable("missing_field", f"{common.where('from')} is empty")
    return message(
        settings,
        id,
        thread_id=headers.thread_id or message_id,
        message_id=message_id,
        direction="inbound",
        sender=senders[0],
        recipient=recipients[0] if recipients else None,
        time=mail.time("timestamp"),
        references=headers.references,
        headers=headers.by_name,
        return_path=mail.optional_text("source") or headers.by_name.get("return-path"),
        reports=_mail_reports(event),
    )


def _mail_reports(event: Record) -> list[dict[str, str]]:
    """What a report by mail tells, where the topic carries the whole mail (`content`)."""
    content = event.members.get("content")
    if not isinstance(content, str):
        return []
    encoding = event.optional_record("receipt").optional_record("action").optional_text("encoding")
    try:
        raw = decode_base64("".join(content.split())) if encoding == "BASE64" else content.encode()
    except (NotBase64, UnicodeEncodeError):
        return []
    return reports_in(raw)
