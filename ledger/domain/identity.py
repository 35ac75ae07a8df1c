"""Who is who: normal form and fingerprint of an address, aggregate ids, and our own Message-IDs."""

import hashlib
import hmac
import re
import unicodedata
from functools import lru_cache
from string import hexdigits
from uuid import UUID, uuid5

import idna

from ledger.domain.value import value

_NAMESPACE = UUID("6f1c9b0e-5a57-4b52-9d0b-2a6f5c1d7e30")
_NEEDS_QUOTES = re.compile(r'^$|[\s()<>\[\]:;@\\,"]')
"""What a local part holds only between quotes (RFC 5322, section 3.2.3)."""
_NEVER = re.compile(r"[\r\n\0 <>]")
_ESCAPED = re.compile(r"\\(.)")
_DOMAIN = re.compile(r"[a-z0-9._-]+|\[[\x21-\x5a\x5e-\x7e]+\]")
"""Names, also such as DNS would not have, and an address literal."""
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})
"""The Unicode categories of blanks, line ends, controls and format characters."""
_WITHOUT_PICTURE = frozenset(
    chr(c)
    for c in (
        0x034F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x2800,
        0x3164,
        0xFFA0,
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)
"""Fillers, joiners and variation selectors, which are letters and marks to Unicode."""
ADDRESS_CUSTOMER_PREFIX = "adr_"
"""Customers known only by their address carry this prefix and the fingerprint (design D9)."""
LONGEST_MESSAGE_NAME = 255
"""A Message-ID of more characters, brackets aside, is known by its digest."""
RESERVED_CUSTOMER_PREFIX = "ledger-probe-"
"""Synthetic customers of the guard check; refused in public requests (design D13)."""


class BadAddress(ValueError):
    """The text is not an e-mail address: it needs one local part, an '@' and a domain."""


@value
class Address:
    """An address as it was given, beside the fingerprint under which the log knows it (D18).

    `untagged` is the fingerprint of the address without its plus tag, None where it has no tag.
    """

    text: str
    fingerprint: str
    untagged: str | None = None


def normal_form(address: str) -> str:
    """The form in which addresses are compared: NFC, case-folded, the domain in its ASCII form.

    Plus tags and dots are kept: nothing proves that they share a mailbox (design D9). Several
    addresses in one text are none: each of the mailboxes has a window. Raises BadAddress.
    """
    text = address.strip()
    local, at, domain = text.rpartition("@")
    if not at or not local or not domain or len(text) > 320 or _NEVER.search(text):
        raise BadAddress("not an e-mail address")
    bare = _local_part(local)
    if bare.isascii():
        return f"{bare.lower()}@{_ascii_domain(domain)}"
    composed = unicodedata.normalize("NFC", bare)
    folded = unicodedata.normalize("NFC", composed.casefold())
    return f"{folded}@{_ascii_domain(domain)}"


def _local_part(text: str) -> str:
    """The local part without what does not tell mailboxes apart.

    Quotes that nothing in it needs (RFC 5321, section 4.1.2), and characters that are not seen.
    """
    if not text.isascii():
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    quoted = len(text) > 2 and text[0] == text[-1] == '"'
    bare = _ESCAPED.sub(r"\1", text[1:-1]) if quoted else text
    if not _NEEDS_QUOTES.search(bare):
        return bare
    if not quoted:
        raise BadAddress("not an e-mail address, or more than one")
    return text


@lru_cache(maxsize=4096)
def _ascii_domain(domain: str) -> str:
    """Kept for the domains that come again and again: IDNA takes longer than all the rest."""
    # UTS 46 folds the case. To casefold first would turn ß into ss, which is another domain.
    composed = unicodedata.normalize("NFC", domain).rstrip(".")
    try:
        ascii_domain = idna.encode(composed, uts46=True).decode("ascii").rstrip(".")
    except idna.IDNAError:
        ascii_domain = composed.lower()
    if not _DOMAIN.fullmatch(ascii_domain):
        raise BadAddress("the domain of the address is not valid")
    return ascii_domain


def fingerprint(secret: bytes, address: str) -> str:
    """Keyed fingerprint (HMAC-SHA256, 32 hex digits) of an address's normal form (design D18).

    Raises BadAddress.
    """
    return hmac.digest(secret, normal_form(address).encode(), "sha256").hex()[:32]


def untagged_fingerprint(secret: bytes, address: str) -> str | None:
    """The fingerprint of a tagged address without its plus tag (RFC 5233), None without a tag.

    It ties the senders of one mailbox together for the loop guard, and for nothing else: whose
    mail it is and what holds it stay with the address as written (design D9). Raises BadAddress.
    """
    local, _, domain = normal_form(address).rpartition("@")
    base, plus, _ = local.partition("+")
    if not plus or not base or local.startswith('"'):
        return None
    return fingerprint(secret, f"{base}@{domain}")


def customer_known_by(address: Address) -> str:
    """The customer id of somebody without a billing id, known by their address alone (D9)."""
    return ADDRESS_CUSTOMER_PREFIX + address.fingerprint


def known_by_address(customer_id: str) -> bool:
    """Is this the id of a customer known by their address alone, and no billing id like it?"""
    digits = customer_id.removeprefix(ADDRESS_CUSTOMER_PREFIX)
    return digits != customer_id and len(digits) == 32 and not set(digits) - set(hexdigits)


@lru_cache(maxsize=98304)
def aggregate_id(kind: str, external_id: str) -> UUID:
    """The aggregate id of an outside id: uuid5 of (kind, external id), length-prefixed (D1)."""
    return uuid5(_NAMESPACE, f"{len(kind)}:{kind}{external_id}")


def message_id(secret: bytes, permit_id: str, domain: str) -> str:
    """Our Message-ID for a permit, with a MAC, so that it is known without a look-up (D18)."""
    return f"<{permit_id}.{_mac(secret, permit_id)}@{domain}>"


def message_name(text: str) -> str:
    """A Message-ID as the ledger compares it: in angle brackets, whichever way it was told.

    Mail systems and agents leave the brackets off, which are no part of the id (RFC 5322, section
    3.6.4); one mail under two names would earn two replies. The ids that mail systems give
    themselves, without an '@', stay as they are. One of more than 255 characters goes by its
    SHA-256 digest, in every place alike.
    """
    bare = text.strip()
    inner = bare.removeprefix("<").removesuffix(">").strip()
    if "@" not in inner:
        return inner if len(inner) <= LONGEST_MESSAGE_NAME else _digest(inner)
    return f"<{inner}>" if len(inner) <= LONGEST_MESSAGE_NAME else f"<{_digest(inner)}>"


def _digest(text: str) -> str:
    return f"{hashlib.sha256(text.encode()).hexdigest()}@long-message-id.invalid"


def has_unseen_end(text: str) -> bool:
    """Does an id begin or end with something that nobody sees: a blank, a format character?

    Ids that look alike are one to people; spreadsheets and forms leave such ends behind.
    Blanks of any width, format characters (Unicode categories Z and Cf) and the few letters and
    marks without a picture count as unseen. Within an id they are left alone: scripts need some.
    """
    if text.isascii():
        return text[:1].isspace() or text[-1:].isspace()
    return _unseen(text[0]) or _unseen(text[-1])


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in _BLANK or character in _WITHOUT_PICTURE


def permit_of_message_id(secret: bytes, text: str) -> str | None:
    """The permit whose Message-ID this is, or None where the MAC is not ours."""
    left, _, _ = text.strip().strip("<>").partition("@")
    permit, _, mac = left.rpartition(".")
    if permit and hmac.compare_digest(mac.encode(), _mac(secret, permit).encode()):
        return permit
    return None


def _mac(secret: bytes, permit_id: str) -> str:
    return hmac.digest(secret, b"message-id:" + permit_id.encode(), "sha256").hex()[:16]
