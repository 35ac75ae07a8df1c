"""The name of a mail that says nothing of itself: a keyed fingerprint of what a person would read.

Two runs of one program write the same mail with another date, other boundaries and other content
ids: those are left out.
"""

import email
import email.policy
import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterator
from email.message import EmailMessage, Message

from api.gates.addresses import same_address
from api.gates.smtp.mail import Mail

_BLANKS = re.compile(r"\s+")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")


class Fingerprints:
    """The fingerprints of one mail, which differ by recipient: HMAC-SHA256 (hex).

    They are over sender, recipient, normalised subject and body; no part of the mail can be read
    from one. A text is compared without the blanks at the ends of its lines; a subject without case
    and by single blanks.
    """

    def __init__(self, key: bytes, sender: str, mail: Mail) -> None:
        self._key, self._sender, self._mail = key, sender, mail
        self._read: tuple[bytes, ...] | None = None

    def of(self, recipient: str) -> str:
        """The fingerprint of the mail to this recipient."""
        if self._read is None:
            subject = normal_subject(self._mail.first("Subject"))
            self._read = (subject.encode(), body_digest(self._mail.content))
        digest = hmac.new(self._key, digestmod="sha256")
        addresses = [same_address(one).encode() for one in (self._sender, recipient)]
        for part in (*addresses, *self._read):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()


def normal_subject(subject: str | None) -> str:
    """A subject as it is compared."""
    composed = unicodedata.normalize("NFC", subject or "")
    return _BLANKS.sub(" ", composed).strip().casefold()


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
    for number, one in enumerate(ids):
        text = text.replace(f"cid:{one}", f"cid:{number}")
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    yield _TRAILING.sub("", lines).strip("\n").encode("utf-8", "replace")
