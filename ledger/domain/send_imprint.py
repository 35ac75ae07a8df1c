"""What a mail carries of its permit: kind, lane and digests of its send keys, under a MAC (D13).

A mail that went out tells by them which send it was, also where the log that held its permit is
lost. The digests are keyed by the secret: nobody can guess an id from them, and they name nobody.
They and the MAC are BLAKE2b with a key (RFC 7693): each grant makes them, and HMAC takes longer.
"""

import hmac
import re
from collections.abc import Sequence
from email.errors import MessageError
from email.header import decode_header, make_header
from functools import lru_cache
from hashlib import blake2b
from uuid import UUID

from ledger.domain import identity
from ledger.domain.permit import Lane
from ledger.domain.sendkey import SendKey, encode
from ledger.domain.value import value

SEND_HEADER = "X-Ledger-Send"
"""The header that a sender puts the token in."""
MOST_DIGESTS = 128
"""Digests that one imprint holds: more than a reminder may name invoices."""
LONGEST_TOKEN = 4096
"""Characters of a token; a text of more is none of ours."""
DIGEST_LENGTH = 26
"""Lower-case base32 digits of a digest; mail systems that fold the case leave them as they are."""
_MAC_LENGTH = 16
_TOKEN_MAC = 15
_UUID_DIGITS = re.compile(r"[0-9a-f]{32}")
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"
_ALPHABET = frozenset(_DIGITS)
_LOWEST_FIVE_BITS = (_DIGITS * 8).encode()
_KEYS, _MACS = b"send-key", b"imprint"
_LANES = {"o": Lane.OUTREACH, "r": Lane.REPLY, "t": Lane.TRANSACTIONAL, "a": Lane.APOLOGY}
_LANE_CODES = {lane: code for code, lane in _LANES.items()}


@value
class SendImprint:
    """The one-letter code of the mail's kind, its lane, and the digests of its send keys."""

    kind: str
    lane: Lane
    digests: tuple[str, ...]

    @property
    def text(self) -> str:
        """The imprint as a permit keeps it."""
        return imprint_text(self.kind, self.lane, self.digests)


def imprint_text(kind: str, lane: Lane, digests: Sequence[str]) -> str:
    """An imprint as a permit keeps it: two letters, then the digests, at most 128 of them."""
    return f"{kind}{_LANE_CODES[lane]}{''.join(digests[:MOST_DIGESTS])}"


@value
class MailProof:
    """A permit that a mail names with our MAC, and its imprint; None where it carries none."""

    permit_id: str
    imprint: SendImprint | None = None


def key_digest(secret: bytes, key: SendKey) -> str:
    """The keyed digest of a send key: 130 bits of BLAKE2b as 26 digits of base32 (RFC 4648).

    They are the lowest five bits of 26 bytes, which costs a quarter of what writing 16 bytes does.
    """
    digest = _begun(secret, _KEYS, DIGEST_LENGTH).copy()
    digest.update(encode(key))
    return digest.digest().translate(_LOWEST_FIVE_BITS).decode()


def read_imprint(text: str) -> SendImprint | None:
    """The imprint of this text, None where it is of none."""
    digests, rest = divmod(len(text) - 2, DIGEST_LENGTH)
    if rest or not 0 <= digests <= MOST_DIGESTS or not set(text) <= _ALPHABET:
        return None
    if text[1] not in _LANES:
        return None
    found = (text[i : i + DIGEST_LENGTH] for i in range(2, len(text), DIGEST_LENGTH))
    return SendImprint(text[0], _LANES[text[1]], tuple(found))


def imprinted_message_id(secret: bytes, permit_id: str, imprint: str, domain: str) -> str:
    """Our Message-ID for a permit with this imprint: at most 255 characters, brackets aside.

    It has as many of the digests as fit, in their order; the token has them all. Without an
    imprint, or without room for a digest, it has the form of `identity.message_id`.
    """
    room = identity.LONGEST_MESSAGE_NAME - len(permit_id) - _MAC_LENGTH - len(domain) - 3
    fits = (room - 2) // DIGEST_LENGTH
    if not imprint or fits < 1:
        return identity.message_id(secret, permit_id, domain)
    imprint = imprint[: 2 + fits * DIGEST_LENGTH]
    return f"<{permit_id}.{imprint}.{_mac(secret, permit_id, imprint)}@{domain}>"


def proof_in_message_id(secret: bytes, text: str) -> MailProof | None:
    """What our own Message-ID proves, with an imprint or of the older form; None: not ours."""
    left, _, _ = text.strip().strip("<>").partition("@")
    for given in dict.fromkeys((left, left.lower())):
        parts = given.rsplit(".", 2)
        proof = _proved(secret, *parts) if len(parts) == 3 else None
        if proof is not None:
            return proof
    permit_id = identity.permit_of_message_id(secret, text)
    return MailProof(permit_id) if permit_id is not None else None


def send_token(secret: bytes, permit_id: str, imprint: str) -> str:
    """The token of a permit, for the header `X-Ledger-Send`: all digests, folded at its spaces.

    That of one send has 77 characters, all of them letters, digits and dashes: it fits where
    providers take tags and metadata, and on a line of its own (RFC 5322, section 2.1.1), where
    mail libraries would write a longer word in encoded pieces.
    """
    mac, named = _mac(secret, permit_id, imprint)[:_TOKEN_MAC], permit_id.replace("-", "")
    ends = range(2 + DIGEST_LENGTH, len(imprint), DIGEST_LENGTH)
    if ends:
        rest = [imprint[end : end + DIGEST_LENGTH] for end in ends]
        imprint = " ".join((imprint[: 2 + DIGEST_LENGTH], *rest))
    return f"{named}-{imprint}-{mac}"


def proof_in_token(secret: bytes, text: str) -> MailProof | None:
    """What a token proves, None for a text that this ledger did not make.

    White space in it does not matter, nor does the case: mail systems fold both. Nor do encoded
    words (RFC 2047): some libraries write a long word so.
    """
    if len(text) > LONGEST_TOKEN:
        return None
    parts = "".join(_decoded(text).split()).lower().rsplit("-", 2)
    if len(parts) != 3:
        return None
    digits, imprint, mac = parts
    if not _UUID_DIGITS.fullmatch(digits):
        return None
    return _proved(secret, str(UUID(digits)), imprint, mac)


def _decoded(text: str) -> str:
    """The text of a header's encoded words, the text itself where it has none."""
    if "=?" not in text:
        return text
    try:
        return str(make_header(decode_header(text)))
    except (LookupError, ValueError, MessageError):
        return text


def _proved(secret: bytes, permit_id: str, imprint: str, mac: str) -> MailProof | None:
    expected = _mac(secret, permit_id, imprint)
    if len(mac) == _TOKEN_MAC:
        expected = expected[:_TOKEN_MAC]
    if not permit_id or not hmac.compare_digest(mac.encode(), expected.encode()):
        return None
    return MailProof(permit_id, read_imprint(imprint))


@lru_cache(maxsize=1024)
def _mac(secret: bytes, permit_id: str, imprint: str) -> str:
    """The same for Message-ID and token: a grant makes both, and they prove the same."""
    digest = _begun(secret, _MACS, _MAC_LENGTH // 2).copy()
    digest.update(f"{len(permit_id)}:{permit_id}{imprint}".encode())
    return digest.hexdigest()


@lru_cache(maxsize=16)
def _begun(secret: bytes, purpose: bytes, length: int) -> blake2b:
    """A hash of so many bytes that has taken in its key, which is for this purpose alone."""
    key = hmac.digest(secret, b"send-imprint", "sha256")
    return blake2b(digest_size=length, key=key, person=purpose)
