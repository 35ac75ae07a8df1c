"""Mailgun: the signature is inside the body and covers its timestamp and token only."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from api.webhooks.bodies.mail_events import delivery, not_delivered
from api.webhooks.bodies.mail_ids import provider_message_id
from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import Unusable, rejecting
from api.webhooks.provider import BadSignature, Settings, Translation
from api.webhooks.signatures.hmac_signature import any_signature_matches, check_fresh

_RETRIES_END = timedelta(hours=12)
"""Mailgun tries for eight hours, and asks not to be strict about delays of its own."""


class Mailgun:
    """https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks"""

    name = "mailgun"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check `signature` in the body: HMAC of timestamp and token under the signing key."""
        try:
            signature = Record(read_json_object(body)).record("signature")
            timestamp, token = signature.text("timestamp"), signature.text("token")
            given = signature.text("signature")
        except Unusable:
            raise BadSignature("the body holds no signature") from None
        check_fresh(timestamp, now, past=_RETRIES_END)
        if not any_signature_matches(settings.secrets, (timestamp + token).encode(), [given]):
            raise BadSignature("the signature does not match")

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one event means. All others (accepted, opened, clicked …) are ignored."""
        return rejecting(lambda: _translate(body, settings))


def _translate(body: bytes, settings: Settings) -> Translation:
    event = Record(read_json_object(body)).record("event-data")
    kind = event.text("event")
    if kind == "rejected":
        return not_delivered("Mailgun rejected a mail that it had accepted")
    if kind == "failed" and event.optional_text("severity") == "temporary":
        return Translation(ignored="temporary_bounce")
    deliveries = {"delivered": "delivered", "failed": "bounced", "complained": "complained"}
    if kind not in deliveries:
        return Translation(ignored="irrelevant_event")
    told = event.record("message").record("headers").text("message-id")
    message_id = provider_message_id("mailgun", told)
    return delivery(
        settings,
        "mailgun",
        event.text("id"),
        deliveries[kind],
        event.unix("timestamp"),
        provider_message_id=message_id,
        message_id=message_id,
    )
