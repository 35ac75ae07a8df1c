"""Base64 with exactly one spelling of each value (RFC 4648, section 3.5)."""

import base64


def decode_base64(text: str) -> bytes:
    """The bytes. Raises ValueError for other alphabets, wrong padding and loose trailing bits."""
    decoded = base64.b64decode(text.encode("ascii"), validate=True)
    if base64.b64encode(decoded).decode("ascii") != text:
        raise ValueError("not the one spelling of these bytes")
    return decoded
