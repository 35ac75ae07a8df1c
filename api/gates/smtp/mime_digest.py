"""What of a mail's bytes counts for its fingerprint.

Two runs of one program write the same mail with another date, other boundaries and other content
ids: those are left out.
"""

import email
import email.policy
import hashlib
from collections.abc import Iterator
from email.message import EmailMessage, Message

from api.gates.fingerprint import normal_text


def body_digest(content: bytes) -> bytes:
    """A digest of the parts of a mail as they are decoded, each with its type and its name."""
    message = email.message_from_bytes(content, policy=email.policy.compat32)
    leaves = [part for part in message.walk() if not part.is_multipart()]
    ids = [str(part.get("Content-ID", "")).strip().strip("<>") for part in leaves]
    digest = hashlib.sha256()
    for leaf in leaves:
        for part in _said_by(leaf, [one for one in ids if one]):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _said_by(leaf: "Message | EmailMessage", ids: list[str]) -> Iterator[bytes]:
    yield leaf.get_content_type().encode()
    yield (leaf.get_filename() or "").encode("utf-8", "replace")
    payload = leaf.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    if leaf.get_content_maintype() != "text":
        yield content
        return
    try:
        text = content.decode(leaf.get_content_charset() or "utf-8", "replace")
    except LookupError:
        text = content.decode("latin-1")
    yield normal_text(text, ids)
