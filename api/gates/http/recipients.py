"""Whom a call's mail goes to: addresses are read, and written anew, so that the provider sees no
other recipients than the gate did."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.errors import HeaderParseError, InvalidHeaderDefect
from email.policy import default as _policy

from api.gates.addresses import same_address
from api.gates.http.call import BadCall
from ledger.domain.identity import BadAddress, normal_form

RECIPIENT_HEADERS = frozenset({"to", "cc", "bcc", "resent-to", "resent-cc", "resent-bcc"})
"""Header fields that name recipients; a call names them elsewhere."""
COMMAND_HEADERS = frozenset(
    {
        "x-smtpapi",
        "x-mailgun-deliver-by",
        "x-mailgun-delivery-time-optimize-period",
        "x-mailgun-drop-message",
        "x-mailgun-on-behalf-of",
        "x-mailgun-recipient-variables",
        "x-mailgun-time-zone-localize",
    }
)
"""Header fields by which a provider is told recipients, a time, or to send nothing."""


@dataclass(frozen=True)
class Recipient:
    """An address and the name that stands before it."""

    address: str
    name: str = ""

    @property
    def text(self) -> str:
        """Both as a header field has them (RFC 5322, section 3.4); the name may be any Unicode."""
        if not self.name:
            return self.address
        quoted = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}" <{self.address}>'


@dataclass(frozen=True)
class Addressed:
    """The recipients of one mail, by the field in which each stands."""

    to: tuple[Recipient, ...]
    cc: tuple[Recipient, ...] = ()
    bcc: tuple[Recipient, ...] = ()

    def everybody(self) -> tuple[str, ...]:
        """Each address once."""
        found = {same_address(one.address): one.address for one in self._all()}
        return tuple(found.values())

    def only(self, addresses: Iterable[str]) -> "Addressed":
        """The same without everybody else; the first of `addresses` is in `to` if nobody is."""
        chosen = [same_address(one) for one in addresses]
        kept = [
            tuple(one for one in field if same_address(one.address) in chosen)
            for field in (self.to, self.cc, self.bcc)
        ]
        if kept[0]:
            return Addressed(*kept)
        main = next(one for one in self._all() if same_address(one.address) == chosen[0])
        rest = [tuple(one for one in field if one is not main) for field in kept[1:]]
        return Addressed((main,), *rest)

    def _all(self) -> tuple[Recipient, ...]:
        return (*self.to, *self.cc, *self.bcc)


def recipient(address: object, name: object = None) -> Recipient:
    """One recipient. Raises BadCall for what is no address."""
    if not isinstance(address, str) or not isinstance(name, str | None):
        raise BadCall("a recipient is no address")
    try:
        normal_form(address.strip())
    except BadAddress:
        raise BadCall("a recipient is no address") from None
    return Recipient(address.strip(), plain(name or "", "the name of a recipient").strip())


def recipients(texts: object) -> tuple[Recipient, ...]:
    """The recipients in a text, or in several, as header fields write them. Raises BadCall."""
    given = [texts] if isinstance(texts, str) else texts
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise BadCall("recipients are texts")
    written = (plain(one, "a recipient") for one in given if one.strip())
    return tuple(one for text in written for one in _read(text))


def _read(text: str) -> Iterator[Recipient]:
    """The recipients of one header field. Raises BadCall where a part of it is none."""
    try:
        field = _policy.header_factory("To", text)
    except (HeaderParseError, IndexError, ValueError):
        raise BadCall("a recipient is no address") from None
    if any(isinstance(one, InvalidHeaderDefect) for one in field.defects):
        raise BadCall("a recipient is no address")
    for one in field.addresses:
        yield recipient(one.addr_spec, one.display_name)


def plain(text: str, what: str) -> str:
    """The text. Raises BadCall for line breaks and NUL, which would end a header field."""
    if any(one in text for one in "\r\n\0"):
        raise BadCall(f"{what} holds a line break")
    return text
