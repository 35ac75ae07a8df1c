"""Resend: Svix signatures; deliveries by its email id, inbound mail as something to fetch."""

from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.body_id import id_from_body
from api.webhooks.bodies.mail_events import delivery, merged, not_delivered
from api.webhooks.bodies.preferences import (
    BLOCKED,
    BOUNCED,
    COMPLAINED,
    UNSUBSCRIBED,
    of_list,
    preference,
)
from api.webhooks.bodies.record import Record, checked_text
from api.webhooks.bodies.send_token import token_in
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
_CONTACTS = frozenset({"contact.created", "contact.updated"})
_SUPPRESSIONS = {"suppression.created": True, "suppression.deleted": False}
"""Whether the address is held after it."""
_ORIGINS = {"bounce": BOUNCED, "complaint": COMPLAINED, "unsubscribe": UNSUBSCRIBED}
"""Why Resend holds an address; whatever else it says, somebody blocked it."""


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
    given = headers.get("svix-id") or headers.get("webhook-id")
    id = checked_text(given, "svix-id") if given else id_from_body(settings.source, body)
    if kind in _CONTACTS or kind in _SUPPRESSIONS:
        return _address(kind, id, event, settings)
    if kind not in _DELIVERIES:
        return Translation(ignored="irrelevant_event")
    data = event.record("data")
    if data.optional_record("bounce").optional_text("type") in ("Transient", "Undetermined"):
        return not_delivered("Resend gave up on a mail; its address may still be good")
    several = isinstance(data.members.get("to"), list)
    named = data.texts("to") if several else (data.optional_text("to"),)
    return merged(
        delivery(
            settings,
            "resend",
            f"{id}:{number}" if number else id,
            _DELIVERIES[kind],
            event.optional_time("created_at"),
            provider_message_id=data.optional_text("email_id"),
            message_id=data.optional_text("message_id"),
            recipient=recipient,
            send_token=token_in(data.members.get("headers"), data.members.get("tags")),
        )
        for number, recipient in enumerate(tuple(dict.fromkeys(named)) or (None,))
    )


def _address(kind: str, id: str, event: Record, settings: Settings) -> Translation:
    """A contact who left all broadcasts or came back, or an address that Resend suppresses.

    Other mail of Resend still reaches a contact who left, so only what people subscribe to is
    held. A contact who was just created has nothing to be released from.
    """
    data, at = event.record("data"), event.optional_time("created_at")
    address = data.text("email")
    if kind in _SUPPRESSIONS:
        origin = data.optional_text("origin") or data.optional_text("reason") or ""
        reason = _ORIGINS.get(origin.lower(), BLOCKED)
        held = _SUPPRESSIONS[kind]
        return Translation(facts=(preference(settings, id, address, reason, at, held=held),))
    if "unsubscribed" not in data.members:
        return Translation(ignored="irrelevant_event")
    held, reason = data.flag("unsubscribed"), of_list(UNSUBSCRIBED, "list", "Resend broadcasts")
    if not held and kind == "contact.created":
        return Translation(ignored="irrelevant_event")
    return Translation(
        facts=(preference(settings, id, address, reason, at, held=held, whole=False),)
    )
