"""HTTP Basic credentials (RFC 7617), compared in constant time."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping

from api.webhooks.provider import BadSignature
from api.webhooks.signatures.strict_base64 import NotBase64, decode_base64


def check_basic(headers: Mapping[str, str], credentials: Iterable[str]) -> None:
    """Raise BadSignature unless `Authorization` has one of the `user:password` credentials.

    A user name has no colon, so comparing the whole text equals comparing user and password.
    Digests are compared, so that the time taken does not reveal the length of the right text.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        raise BadSignature("Basic credentials are missing")
    try:
        given = decode_base64(token.strip())
    except NotBase64:
        raise BadSignature("the Basic credentials are malformed") from None
    matches = False
    for expected in credentials:
        usable = ":" in expected
        matches |= usable & hmac.compare_digest(_digest(expected.encode()), _digest(given))
    if not matches:
        raise BadSignature("the Basic credentials are wrong")


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()
