"""Resend: Svix signatures; deliveries by its email id, inbound mail as something to fetch."""

from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.body_id import id_from_body
from api.webhooks.bodies.mail_events import delivery, not_delivered
from api.webhooks.bodies.record import Record, checked_text
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import rejecting
from api.webhooks.provider import Refresh, Settings, Translation
from api.webhooks.signatures.standard_signature import check_standard_signature

_DELIVERIES = {
    "email.delivered": "delivered",
    "email.bounced": "bounced",
    "email.complained": "complained",
    "email.suppressed": "bounced",
}


class Resend:
    """https://resend.com/docs/dashboard/webhooks/event-types"""

    name = "resend"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check the `svix-` headers; the secret is base64 after `whsec_`."""
        check_standard_signature(headers, body, settings.secrets, now)

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one event means. All others (sent, opened, clicked, delayed …) are ignored."""
        return rejecting(lambda: _translate(headers, body, settings))


def _translate(headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
    event = Record(read_json_object(body))
    kind = event.text("type")
    if kind == "email.received":
        email_id = event.record("data").text("email_id")
        return Translation(refresh=(Refresh("resend", "received_email", email_id),))
    if kind == "email.failed":
        return not_delivered("Resend could not send a mail that it had accepted")
    if kind not in _DELIVERIES:
        return Translation(ignored="irrelevant_event")
    data = event.record("data")
    if data.optional_record("bounce").optional_text("type") == "Transient":
        return Translation(ignored="temporary_bounce")
    id = headers.get("svix-id") or headers.get("webhook-id")
    return delivery(
        settings,
        "resend",
        checked_text(id, "svix-id") if id else id_from_body(settings.source, body),
        _DELIVERIES[kind],
        event.time("created_at"),
        provider_message_id=data.text("email_id"),
        message_id=data.optional_text("message_id"),
    )
