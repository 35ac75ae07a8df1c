"""Send keys: the tuple that names one real-world send, and the provider's key derived from it."""

import hashlib
from functools import lru_cache
from typing import TypeAlias

SendKey: TypeAlias = tuple[str, ...]
"""A kind followed by the parts that name the send, for example ('stage', 'inv_1', '1', 'day-7')."""


def override_key(action_id: str) -> SendKey:
    """A human's deliberate repeat, once per action."""
    return ("override", action_id)


@lru_cache(maxsize=1024)
def encode(key: SendKey) -> bytes:
    """The tuple as bytes, each part length-prefixed: ('a:b', 'c') and ('a', 'b:c') differ."""
    encoded = b""
    for part in key:
        text = part.encode()
        encoded += b"%d:%b" % (len(text), text)
    return encoded


def digest_of(key: SendKey) -> bytes:
    """sha256 of the encoded key: its name in the table of names."""
    return hashlib.sha256(encode(key)).digest()


def provider_idempotency_key(keys: tuple[SendKey, ...], rejections: int) -> str:
    """The key for the mail provider: the first 48 hex digits of sha256 over the send keys.

    It counts the rejections (design D6), so that the next try after a definite refusal is a new
    request to the provider while every retry of one try is the same. The order in which a request
    names its invoices does not matter: it is one mail.
    """
    named = b"%d;" % rejections
    for key in sorted(keys):
        encoded = encode(key)
        named += b"%d:%b" % (len(encoded), encoded)
    return hashlib.sha256(named).hexdigest()[:48]
