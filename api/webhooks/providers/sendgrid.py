"""SendGrid: an ECDSA signature over a list of events, each with an id of its own."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from api.webhooks.bodies.body_id import id_from_parts
from api.webhooks.bodies.mail_events import delivery, merged, not_delivered
from api.webhooks.bodies.mail_ids import bracketed, provider_message_id
from api.webhooks.bodies.preferences import UNSUBSCRIBED, of_list, preference
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.send_token import token_in
from api.webhooks.bodies.strict_json import read_json
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import BadSignature, Fact, Settings, Translation
from api.webhooks.signatures.hmac_signature import check_fresh
from api.webhooks.signatures.strict_base64 import NotBase64, decode_base64

_SIGNATURE = "x-twilio-email-event-webhook-signature"
_TIMESTAMP = "x-twilio-email-event-webhook-timestamp"
_RETRIES_END = timedelta(hours=48)
"""SendGrid tries for a day and has been seen to repeat events over 29 hours."""
_BAD_ADDRESS = frozenset({"bounced address", "invalid", "spam reporting address"})
_LEFT = frozenset({"unsubscribed address", "unsubscribed recipient", "user unsubscribed"})
"""Why a mail was dropped: whose address it is has left, and SendGrid mails it nothing more."""
_DELIVERIES = {
    "delivered": "delivered",
    "bounce": "bounced",
    "dropped": "bounced",
    "spamreport": "complained",
}
_PREFERENCES = {
    "unsubscribe": True,
    "resubscribe": False,
    "group_unsubscribe": True,
    "group_resubscribe": False,
}
"""Whether the address is held after it; those of a group are about its mails alone."""


class SendGrid:
    """https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event"""

    name = "sendgrid"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check ECDSA-SHA256 over timestamp and body; the secret is the public key (base64 DER)."""
        timestamp = headers.get(_TIMESTAMP, "")
        check_fresh(timestamp, now, past=_RETRIES_END)
        try:
            signature = decode_base64(headers.get(_SIGNATURE, ""))
        except NotBase64:
            raise BadSignature("the signature is malformed") from None
        if not signature:
            raise BadSignature("unsigned: switch Signed Event Webhook on at SendGrid")
        message = timestamp.encode() + body
        if not any(_signed(key, signature, message) for key in settings.secrets):
            raise BadSignature("the signature does not match")

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What each event of the list means; one that is unusable does not stop the others."""
        return rejecting(lambda: _translate(body, settings))


def _signed(public_key: str, signature: bytes, message: bytes) -> bool:
    try:
        key = load_der_public_key(decode_base64(public_key.strip()))
        if not isinstance(key, ec.EllipticCurvePublicKey):
            return False
        key.verify(signature, message, ec.ECDSA(SHA256()))
    except (ValueError, UnsupportedAlgorithm, InvalidSignature):
        return False
    return True


def _translate(body: bytes, settings: Settings) -> Translation:
    events = read_json(body)
    if not isinstance(events, list):
        raise Unusable("malformed_json", "the body is not a list of events")
    return merged(rejecting(partial(_event, event, settings)) for event in events)


def _event(members: object, settings: Settings) -> Translation:
    if not isinstance(members, dict):
        raise Unusable("wrong_type", "an event of the list is not an object")
    event = Record(members, "event")
    kind = event.text("event")
    if kind in _PREFERENCES:
        return Translation(facts=(_preference(event, kind, settings),))
    if kind == "blocked" or (kind == "bounce" and event.optional_text("type") == "blocked"):
        return not_delivered("SendGrid says that a mail was blocked, and does not try again")
    if kind == "bounce" and str(event.members.get("status") or "").startswith("4"):
        return not_delivered(
            "SendGrid gave up on a mail whose server refused it for the time being"
        )
    why = str(event.members.get("reason") or "").lower()
    if kind == "dropped" and why not in _BAD_ADDRESS:
        dropped = not_delivered("SendGrid dropped a mail that it had accepted")
        if why not in _LEFT:
            return dropped
        return merged([dropped, Translation(facts=(_preference(event, kind, settings),))])
    if kind not in _DELIVERIES:
        return Translation(ignored="irrelevant_event")
    sent_id = event.optional_text("sg_message_id")
    message_id = event.optional_text("smtp-id")
    return delivery(
        settings,
        "sendgrid",
        _id(event, settings),
        _DELIVERIES[kind],
        event.optional_unix("timestamp"),
        provider_message_id=sent_id and provider_message_id("sendgrid", sent_id),
        message_id=message_id and bracketed(message_id),
        recipient=event.optional_text("email"),
        send_token=token_in(event.members),
    )


def _preference(event: Record, kind: str, settings: Settings) -> Fact:
    """A person left, or came back: all mail of the account, or that of one group."""
    whole, reason = not kind.startswith("group_"), UNSUBSCRIBED
    if not whole:
        reason = of_list(UNSUBSCRIBED, "group", str(event.whole("asm_group_id")))
    return preference(
        settings,
        _id(event, settings),
        event.text("email"),
        reason,
        event.optional_unix("timestamp"),
        held=_PREFERENCES.get(kind, True),
        whole=whole,
    )


def _id(event: Record, settings: Settings) -> str:
    """The event's id; without one, what is the same in each try to deliver it."""
    names = ("event", "email", "timestamp", "sg_message_id", "smtp-id", "asm_group_id")
    parts = (event.members.get(name) for name in names)
    return event.optional_text("sg_event_id") or id_from_parts(settings.source, *parts)
