"""Decodes canonical base64: exactly one encoding of each value (RFC 4648, section 3.5)."""

import base64


class NotBase64(ValueError):
    """The text has another alphabet, wrong padding, or unused bits that are not zero."""


def decode_base64(text: str) -> bytes:
    """The decoded bytes. Raises NotBase64."""
    try:
        decoded = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        raise NotBase64 from None
    if base64.b64encode(decoded).decode("ascii") != text:
        raise NotBase64
    return decoded
