"""What every HMAC-signed webhook shares: a fresh timestamp, and comparing in constant time."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from api.webhooks.provider import BadSignature

TOLERANCE = timedelta(minutes=5)
"""How far a signature's time may be from ours, both ways, where the provider says five minutes."""
_DIGITS = re.compile(r"[0-9]{1,16}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def check_fresh(
    timestamp: str,
    now: datetime,
    *,
    per_second: int = 1,
    past: timedelta = TOLERANCE,
    future: timedelta = TOLERANCE,
) -> None:
    """Raise BadSignature unless the timestamp (digits, Unix time) is close enough to `now`.

    Libraries ask the machine's clock; the ledger goes by its own (design D16, the test clock),
    so their tolerance is switched off and this is used.
    """
    if not _DIGITS.fullmatch(timestamp):
        raise BadSignature("the timestamp is missing or not a number")
    try:
        signed_at = _EPOCH + timedelta(microseconds=int(timestamp) * 1_000_000 // per_second)
    except OverflowError:
        raise BadSignature("the timestamp is beyond any calendar") from None
    if signed_at < now - past:
        raise BadSignature("the signature is too old")
    if signed_at > now + future:
        raise BadSignature("the signature is from the future")


def any_signature_matches(
    secrets: Iterable[str], message: bytes, signatures: Iterable[str]
) -> bool:
    """Whether one of the hex signatures is HMAC-SHA256 of the message under one of the secrets.

    Every pair is compared in full, in constant time and as bytes, so that a signature beyond
    ASCII is simply wrong.
    """
    given = [signature.encode("utf-8", "replace") for signature in signatures]
    matches = False
    for secret in filter(None, secrets):
        expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()
        for signature in given:
            matches |= hmac.compare_digest(expected, signature)
    return matches
