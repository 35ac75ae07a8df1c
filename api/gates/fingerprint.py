"""The name of a mail that says nothing of itself: a keyed fingerprint of what people would read."""

import hmac
import re
import unicodedata
from collections.abc import Sequence
from typing import Protocol

from api.gates.addresses import same_address

_BLANKS = re.compile(r"\s+")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")


class Read(Protocol):
    """A mail as far as its fingerprint goes."""

    def first(self, name: str) -> str | None:
        """The value of the first header field of that name."""
        ...

    def digest(self) -> bytes:
        """A digest of what a person would read, the subject left out."""
        ...


class Fingerprints:
    """The fingerprints of one mail, which differ by recipient: HMAC-SHA256 (hex).

    They are over sender, recipient, normalised subject and content; no part of the mail can be read
    from one. A text is compared without the blanks at the ends of its lines; a subject without case
    and by single blanks.
    """

    def __init__(self, key: bytes, sender: str, mail: Read) -> None:
        self._key, self._sender, self._mail = key, sender, mail
        self._read: tuple[bytes, ...] | None = None

    def of(self, recipient: str) -> str:
        """The fingerprint of the mail to this recipient."""
        if self._read is None:
            subject = normal_subject(self._mail.first("Subject"))
            self._read = (subject.encode("utf-8", "replace"), self._mail.digest())
        digest = hmac.new(self._key, digestmod="sha256")
        addresses = [same_address(one).encode() for one in (self._sender, recipient)]
        for part in (*addresses, *self._read):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()


def normal_subject(subject: str | None) -> str:
    """A subject as it is compared."""
    composed = unicodedata.normalize("NFC", subject or "")
    return _BLANKS.sub(" ", composed).strip().casefold()


def normal_text(text: str, content_ids: Sequence[str]) -> bytes:
    """A text as it is compared; the content ids of the mail, which programs draw, are numbered."""
    for number, one in enumerate(content_ids):
        text = text.replace(f"cid:{one}", f"cid:{number}")
    lines = unicodedata.normalize("NFC", text).replace("\r\n", "\n")
    return _TRAILING.sub("", lines).strip("\n").encode("utf-8", "replace")
