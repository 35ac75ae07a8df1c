"""The provider's key in a call: it passes through, and is kept nowhere."""

import base64
import binascii
import hashlib

from api.gates.http.call import Call


def bearer(call: Call) -> str | None:
    """The token of `Authorization: Bearer …`."""
    scheme, _, token = (call.header("authorization") or "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def basic_password(call: Call) -> str | None:
    """The password of `Authorization: Basic …`."""
    scheme, _, encoded = (call.header("authorization") or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        decoded = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return decoded.partition(":")[2] or None


def sha256_of(credential: str) -> str:
    """By which the gate's file names a provider key."""
    return hashlib.sha256(credential.encode("utf-8", "surrogateescape")).hexdigest()
