"""Mailgun: the signature is inside the body and covers its timestamp and token only."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from api.webhooks.bodies.body_id import id_from_parts
from api.webhooks.bodies.mail_events import delivery, merged, not_delivered
from api.webhooks.bodies.mail_ids import provider_message_id
from api.webhooks.bodies.preferences import UNSUBSCRIBED, preference
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.send_token import token_in
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import BadSignature, Fact, Settings, Translation
from api.webhooks.signatures.hmac_signature import any_signature_matches, check_fresh

_RETRIES_END = timedelta(hours=12)
"""Mailgun tries for eight hours, and asks not to be strict about delays of its own."""
_DELIVERIES = {"delivered": "delivered", "failed": "bounced", "complained": "complained"}
_NO_MORE_TRIES = frozenset({"old", "espblock", "greylist", "greylisted"})
"""Reasons of a permanent failure that tell nothing of the address: it was tried long enough."""


class Mailgun:
    """https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks"""

    name = "mailgun"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> str:
        """Check `signature` in the body: HMAC of timestamp and token under the signing key.

        Returns timestamp and token: Mailgun advises to take each only once, as no body is covered.

        For a subaccount that is its own key; `parent-signature` is then under the primary
        account's. Either will do.
        """
        try:
            signature = Record(read_json_object(body)).record("signature")
            timestamp, token = signature.text("timestamp"), signature.text("token")
            given = [signature.text("signature")]
        except Unusable:
            raise BadSignature("the body holds no signature of Mailgun's JSON webhooks") from None
        check_fresh(timestamp, now, past=_RETRIES_END)
        parent = signature.members.get("parent-signature")
        given += [parent] if isinstance(parent, str) else []
        if not any_signature_matches(settings.secrets, (timestamp + token).encode(), given):
            raise BadSignature("the signature does not match")
        return timestamp + token

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one event means. All others (accepted, opened, clicked …) are ignored."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    event = Record(read_json_object(body)).record("event-data")
    kind = event.text("event")
    if kind == "rejected":
        return not_delivered("Mailgun rejected a mail that it had accepted")
    if kind == "unsubscribed":
        return Translation(facts=(_unsubscribed(event, settings),))
    if kind == "failed" and event.optional_text("severity") == "temporary":
        return Translation(ignored="temporary_bounce")
    if kind not in _DELIVERIES:
        return Translation(ignored="irrelevant_event")
    reason = event.optional_text("reason") if kind == "failed" else None
    if reason in _NO_MORE_TRIES:
        return not_delivered("Mailgun gave up on a mail after trying for hours")
    if reason == "suppress-unsubscribe":
        left_out = not_delivered("Mailgun left out a mail to somebody who unsubscribed")
        return merged([Translation(facts=(_unsubscribed(event, settings),)), left_out])
    if kind == "failed" and _is_soft(event, reason):
        return not_delivered("Mailgun gave up on a mail whose server refused it for the time being")
    meaning = "complained" if reason == "suppress-complaint" else _DELIVERIES[kind]
    told = event.optional_record("message").optional_record("headers").optional_text("message-id")
    message_id = told and provider_message_id("mailgun", told)
    return delivery(
        settings,
        "mailgun",
        _id(event, settings),
        meaning,
        event.optional_unix("timestamp"),
        provider_message_id=message_id,
        message_id=message_id,
        recipient=event.optional_text("recipient"),
        send_token=token_in(event.members.get("user-variables")),
    )


def _unsubscribed(event: Record, settings: Settings) -> Fact:
    """Mailgun mails nothing of the domain to an address that unsubscribed, whatever the tag."""
    id, at = _id(event, settings), event.optional_unix("timestamp")
    return preference(settings, id, event.text("recipient"), UNSUBSCRIBED, at, held=True)


def _is_soft(event: Record, reason: str | None) -> bool:
    """Did the address not turn out bad: by Mailgun's own word, else by an SMTP code of 4xx?

    What Mailgun suppresses is bad whatever it says of this mail.
    """
    status = event.optional_record("delivery-status").members
    named, code = status.get("bounce-type"), str(status.get("code") or "")
    if reason is not None and reason.startswith("suppress-"):
        return False
    return (
        named == "soft" if named in ("soft", "hard") else re.fullmatch(r"4\d\d", code) is not None
    )


def _id(event: Record, settings: Settings) -> str:
    """The event's id; without one, what is the same in each try to deliver it."""
    names = ("event", "recipient", "timestamp", "severity")
    parts = (event.members.get(name) for name in names)
    message = event.optional_record("message").optional_record("headers").members
    return event.optional_text("id") or id_from_parts(
        settings.source, *parts, message.get("message-id")
    )
