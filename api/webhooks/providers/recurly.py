"""Recurly: signed JSON that only hints at what changed, and unsigned XML that says it."""

from collections.abc import Mapping
from datetime import datetime

from api.webhooks.bodies.record import Record
from api.webhooks.bodies.strict_json import read_json_object
from api.webhooks.bodies.unusable import rejecting
from api.webhooks.provider import BadSignature, Refresh, Settings, Translation
from api.webhooks.providers.recurly_types import (
    OBJECTS_BY_NUMBER,
    OBJECTS_BY_UUID,
    OTHER_OBJECTS,
    SUBSCRIPTION_EVENTS,
)
from api.webhooks.providers.recurly_xml import invoice_number, translate_xml
from api.webhooks.signatures.basic import check_basic
from api.webhooks.signatures.hmac_signature import any_signature_matches, check_fresh


class Recurly:
    """https://docs.recurly.com/recurly-subscriptions/docs/webhooks"""

    name = "recurly"

    def verify(
        self, headers: Mapping[str, str], body: bytes, settings: Settings, now: datetime
    ) -> None:
        """Check `recurly-signature` (milliseconds, then hex digests), or Basic credentials.

        Secrets with a colon are Basic credentials, all others signing keys. XML is never signed.
        JSON always is, so once a signing key is configured credentials alone no longer do.
        """
        keys = [secret for secret in settings.secrets if ":" not in secret]
        credentials = [secret for secret in settings.secrets if ":" in secret]
        if _is_xml(body) or not keys:
            check_basic(headers, credentials)
            return
        timestamp, *signatures = headers.get("recurly-signature", "").split(",")
        check_fresh(timestamp, now, per_second=1000)
        if not any_signature_matches(keys, timestamp.encode() + b"." + body, signatures):
            raise BadSignature("no signature of recurly-signature matches")

    def translate(self, headers: Mapping[str, str], body: bytes, settings: Settings) -> Translation:
        """What one notification means: facts from XML, something to fetch from JSON."""
        if _is_xml(body):
            return rejecting(lambda: translate_xml(body, settings))
        return rejecting(lambda: _translate_json(body))


def _is_xml(body: bytes) -> bool:
    return body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<"


def _translate_json(body: bytes) -> Translation:
    notification = Record(read_json_object(body))
    kind = notification.text("object_type")
    if kind in OBJECTS_BY_NUMBER:
        return _fetch(OBJECTS_BY_NUMBER[kind], invoice_number(notification))
    if kind in OBJECTS_BY_UUID:
        return _fetch(OBJECTS_BY_UUID[kind], notification.text("uuid"))
    if kind == "account":
        return _fetch("account", notification.text("account_code"))
    if kind == "subscription" and notification.optional_text("event_type") in SUBSCRIPTION_EVENTS:
        uuid = notification.optional_text("uuid")
        return _fetch("subscription", f"uuid-{uuid}" if uuid else notification.text("id"))
    if OTHER_OBJECTS.is_harmless(kind):
        return Translation(ignored="irrelevant_event")
    return Translation(rejected=(OTHER_OBJECTS.unknown(kind),))


def _fetch(object_kind: str, object_id: str) -> Translation:
    return Translation(refresh=(Refresh("recurly", object_kind, object_id),))
