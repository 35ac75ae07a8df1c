"""What a mail carries of its permit: kind, lane and digests of its send keys, under a MAC (D13).

A mail that went out tells by them which send it was, also where the log that held its permit is
lost. The digests are keyed by the secret: nobody can guess an id from them, and they name nobody.
"""

import hmac
import re
from base64 import b32encode
from dataclasses import dataclass
from uuid import UUID

from ledger.domain import identity
from ledger.domain.permit import Lane
from ledger.domain.sendkey import SendKey, encode

SEND_HEADER = "X-Ledger-Send"
"""The header that a sender puts the token in."""
MOST_DIGESTS = 128
"""Digests that one imprint holds: more than a reminder may name invoices."""
LONGEST_TOKEN = 4096
"""Characters of a token; a text of more is none of ours."""
_DIGEST_BYTES = 16
DIGEST_LENGTH = 26
"""Lower-case base32 digits of a digest; mail systems that fold the case leave them as they are."""
_MAC_LENGTH = 16
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID_DIGITS = re.compile(r"[0-9a-f]{32}")
_ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyz234567")
_LANES = {"o": Lane.OUTREACH, "r": Lane.REPLY, "t": Lane.TRANSACTIONAL, "a": Lane.APOLOGY}
_LANE_CODES = {lane: code for code, lane in _LANES.items()}


@dataclass(frozen=True, slots=True)
class SendImprint:
    """The one-letter code of the mail's kind, its lane, and the digests of its send keys."""

    kind: str
    lane: Lane
    digests: tuple[str, ...]

    @property
    def text(self) -> str:
        """The imprint as a permit keeps it: two letters, then the digests, at most 128 of them."""
        return f"{self.kind}{_LANE_CODES[self.lane]}{''.join(self.digests[:MOST_DIGESTS])}"


@dataclass(frozen=True, slots=True)
class MailProof:
    """A permit that a mail names with our MAC, and its imprint; None where it carries none."""

    permit_id: str
    imprint: SendImprint | None = None


def key_digest(secret: bytes, key: SendKey) -> str:
    """The keyed digest (HMAC-SHA256, 16 bytes as 26 base32 digits) of a send key."""
    return _digits(hmac.digest(secret, b"send-key:" + encode(key), "sha256")[:_DIGEST_BYTES])


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
    named = f"{permit_id}.{imprint[: 2 + fits * DIGEST_LENGTH]}"
    return f"<{named}.{_mac(secret, b'message-imprint:', named)}@{domain}>"


def proof_in_message_id(secret: bytes, text: str) -> MailProof | None:
    """What our own Message-ID proves, with an imprint or of the older form; None: not ours."""
    left, _, _ = text.strip().strip("<>").partition("@")
    for given in dict.fromkeys((left, left.lower())):
        proof = _proved(secret, b"message-imprint:", given, ".")
        if proof is not None:
            return proof
    permit_id = identity.permit_of_message_id(secret, text)
    return MailProof(permit_id) if permit_id is not None else None


def send_token(secret: bytes, permit_id: str, imprint: str) -> str:
    """The token of a permit, for the header `X-Ledger-Send`: all digests, folded at its spaces.

    That of one send has 78 characters, all of them letters, digits and dashes, so that it also fits
    where providers take tags and metadata.
    """
    named = permit_id.replace("-", "") if _UUID.fullmatch(permit_id) else permit_id
    mac = _mac(secret, b"send-token:", f"{named}-{imprint}")
    first, rest = imprint[: 2 + DIGEST_LENGTH], imprint[2 + DIGEST_LENGTH :]
    more = [rest[i : i + DIGEST_LENGTH] for i in range(0, len(rest), DIGEST_LENGTH)]
    return f"{named}-{' '.join((first, *more))}-{mac}"


def proof_in_token(secret: bytes, text: str) -> MailProof | None:
    """What a token proves, None for a text that this ledger did not make.

    White space in it does not matter, nor does the case: mail systems fold both.
    """
    if len(text) > LONGEST_TOKEN:
        return None
    proof = _proved(secret, b"send-token:", "".join(text.split()).lower(), "-")
    if proof is not None and _UUID_DIGITS.fullmatch(proof.permit_id):
        return MailProof(str(UUID(proof.permit_id)), proof.imprint)
    return proof


def _proved(secret: bytes, purpose: bytes, text: str, separator: str) -> MailProof | None:
    parts = text.rsplit(separator, 2)
    if len(parts) != 3:
        return None
    permit_id, imprint, mac = parts
    expected = _mac(secret, purpose, f"{permit_id}{separator}{imprint}")
    if not permit_id or not hmac.compare_digest(mac.encode(), expected.encode()):
        return None
    return MailProof(permit_id, read_imprint(imprint))


def _mac(secret: bytes, purpose: bytes, text: str) -> str:
    return hmac.digest(secret, purpose + text.encode(), "sha256").hex()[:_MAC_LENGTH]


def _digits(digest: bytes) -> str:
    return b32encode(digest).decode().rstrip("=").lower()
