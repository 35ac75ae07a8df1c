"""Commune: inbound mail of agents' inboxes, and what its stream and its polled lists say."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial

from api.webhooks.bodies.mail_events import delivery, merged, message
from api.webhooks.bodies.mail_thread import MailHeaders
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import BadSignature, Settings, Translation
from api.webhooks.signatures.hmac_signature import any_signature_matches, check_fresh

_DELIVERIES = {
    "delivered": "delivered",
    "bounced": "bounced",
    "complained": "complained",
    "suppressed": "bounced",
}


class Commune:
    """https://github.com/commune-dev/commune-docs, features/webhooks"""

    name = "commune"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check `x-commune-signature`: `v1=` and HMAC of `x-commune-timestamp` (ms), dot, body."""
        timestamp = headers.get("x-commune-timestamp", "")
        check_fresh(timestamp, now, per_second=1000)
        given = headers.get("x-commune-signature", "")
        signed = timestamp.encode() + b"." + body
        if not given.startswith("v1=") or not any_signature_matches(
            settings.secrets, signed, [given[3:]]
        ):
            raise BadSignature("the v1 signature of x-commune-signature does not match")

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one body means; Commune's own test posts are ignored in live mode."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    post = Record(read_json_object(body))
    if post.has("message"):
        if post.flag("test") and settings.mode == "live":
            return Translation(ignored="dashboard_test_event")
        return _inbound(post, settings)
    if post.optional_text("type") == "email.sent":
        return _sent(post, settings)
    if isinstance(post.members.get("data"), list):
        events = post.records("data")
        return merged(rejecting(partial(_report, event, settings)) for event in events)
    if post.has("deliveries"):
        return Translation(ignored="list_of_webhook_deliveries")
    if post.optional_record("data").optional_text("status") == "queued":
        return Translation(ignored="answer_to_a_send")
    raise Unusable("missing_field", "the body holds no message")


def _inbound(post: Record, settings: Settings) -> Translation:
    """An inbound message. Replies name it by Commune's id, so that is its `message_id`.

    The Message-ID of the mail itself rides along as a header.
    """
    what = post.record("message")
    inbox, message_id = post.text("inboxId"), what.text("message_id")
    given = post.optional_record("email").optional_record("headers").members
    plain = {name.lower(): value for name, value in given.items() if isinstance(value, str)}
    mail = MailHeaders(plain | _reply_headers(what.optional_record("metadata")))
    return message(
        settings,
        f"{inbox}/{message_id}",
        thread_id=what.text("thread_id"),
        message_id=message_id,
        direction=_direction(what),
        sender=_participant(what, "sender"),
        recipient=post.optional_text("inboxAddress"),
        time=what.time("created_at"),
        references=mail.references,
        headers=mail.by_name,
        return_path=mail.by_name.get("return-path"),
    )


def _reply_headers(metadata: Record) -> dict[str, str]:
    headers = {"references": " ".join(metadata.texts("references"))}
    for header, name in (("message-id", "message_id"), ("in-reply-to", "in_reply_to")):
        text = metadata.optional_text(name)
        if text:
            headers[header] = text
    return headers


def _direction(what: Record) -> str:
    direction = what.text("direction")
    if direction not in ("inbound", "outbound"):
        raise Unusable("unknown_status", f"{what.where('direction')} is none that is known")
    return direction


def _participant(what: Record, role: str) -> str:
    for participant in what.records("participants"):
        if participant.text("role") == role:
            return participant.text("identity")
    raise Unusable("missing_field", f"{what.where('participants')} holds no {role}")


def _sent(event: Record, settings: Settings) -> Translation:
    """An outbound message of the stream, so that nobody replies to it as if it had come in."""
    inbox, message_id = event.text("inbox_id"), event.text("message_id")
    return message(
        settings,
        f"{inbox}/{message_id}",
        thread_id=event.text("thread_id"),
        message_id=message_id,
        direction=_direction(event),
        sender=event.text("from"),
        recipient=event.optional_text("to"),
        time=event.time("created_at"),
    )


def _report(event: Record, settings: Settings) -> Translation:
    kind = event.text("event_type")
    if kind not in _DELIVERIES:
        return Translation(ignored="irrelevant_event")
    return delivery(
        settings,
        "commune",
        event.text("_id"),
        _DELIVERIES[kind],
        event.time("processed_at"),
        provider_message_id=event.text("message_id"),
    )
