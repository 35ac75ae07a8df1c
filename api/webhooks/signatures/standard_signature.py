"""Verifies Standard Webhooks (https://www.standardwebhooks.com), used by Svix and Resend."""

import binascii
import hmac
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook

from api.webhooks.provider import BadSignature
from api.webhooks.signatures.hmac_signature import check_fresh


def check_standard_signature(
    headers: Mapping[str, str], body: bytes, secrets: Iterable[str], now: datetime
) -> None:
    """Raise BadSignature unless a `v1` signature matches under one of the secrets.

    The library's `verify` uses the machine's clock, so only its `sign` is used; the result is
    compared in constant time with every given signature. Header names begin with `svix-` or
    `webhook-`.
    """
    brand = "svix" if "svix-id" in headers else "webhook"
    id, timestamp, given = (
        headers.get(f"{brand}-{part}", "") for part in ("id", "timestamp", "signature")
    )
    if not (id and timestamp and given):
        raise BadSignature("a header of the signature is missing")
    check_fresh(timestamp, now)
    signatures = [text.encode("utf-8", "replace") for text in given.split(" ")]
    matches = False
    for secret in secrets:
        expected = _sign(secret, id, timestamp, body)
        for signature in signatures:
            matches |= expected is not None and hmac.compare_digest(expected, signature)
    if not matches:
        raise BadSignature("no v1 signature matches")


def _sign(secret: str, id: str, timestamp: str, body: bytes) -> bytes | None:
    """The signature with `v1,`; None if the body is not UTF-8 or the secret is not base64."""
    at = datetime.fromtimestamp(int(timestamp), UTC)
    try:
        return Webhook(secret).sign(id, at, body.decode("utf-8")).encode()
    except (UnicodeError, binascii.Error, EmptyWebhookSecretError):
        return None
