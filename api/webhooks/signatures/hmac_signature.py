"""Shared by HMAC-signed webhooks: the timestamp check, and comparison in constant time."""

import hashlib
import hmac
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from api.webhooks.provider import BadSignature

TOLERANCE = timedelta(minutes=5)
"""The allowed difference between a signature's time and ours, for providers with five minutes."""
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

    Libraries use the machine's clock, but the ledger uses its own (design D16, the test clock), so
    this check replaces theirs.
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

    Every pair is compared in constant time, as bytes, so that a signature with non-ASCII
    characters is a wrong one and not an error.
    """
    given = [signature.encode("utf-8", "replace") for signature in signatures]
    matches = False
    for secret in filter(None, secrets):
        expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()
        for signature in given:
            matches |= hmac.compare_digest(expected, signature)
    return matches
