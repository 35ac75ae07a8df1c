"""Makes an id for webhooks without one: equal bytes from the same source are the same event."""

import hashlib


def id_from_body(source: str, body: bytes) -> str:
    """`sha256:` and the digest of source and raw body; a provider's retry repeats the bytes."""
    return "sha256:" + hashlib.sha256(source.encode() + b"\0" + body).hexdigest()
