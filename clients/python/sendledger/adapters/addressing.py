"""Whom a mail goes to, and what it carries: never to anybody whom its permit does not name."""

from __future__ import annotations

from email.message import EmailMessage
from email.utils import getaddresses

from sendledger.delivery import Refused
from sendledger.permit import Permit

_RECIPIENT_HEADERS = ("To", "Cc", "Bcc")


def check_time(permit: Permit) -> None:
    """Raises Refused where `send_by` has passed: the ledger may have granted the send anew."""
    if not permit.in_time:
        raise Refused("the permit ran out before the mail was handed over")


def recipients_for(permit: Permit, to: str | None, copies: list[str]) -> list[str]:
    """The recipients: the permit's `to` and its copies.

    Where the ledger knows no address `to` is the sender's own. Raises Refused for anybody else.
    """
    main = permit.to or to
    if main is None:
        raise Refused("neither the permit nor the mail names a recipient")
    if to is not None and _same(to) != _same(main):
        raise Refused("the mail is addressed to somebody else than its permit")
    allowed = {_same(address) for address in permit.cc}
    if any(_same(address) not in allowed for address in copies):
        raise Refused("the mail has a copy that its permit does not name")
    return list(dict.fromkeys([main, *copies]))


def dress(permit: Permit, message: EmailMessage) -> list[str]:
    """Give a message the permit's headers; returns its recipients. A Bcc header is taken off.

    A message without To gets the permit's. Raises Refused for a message that may not go out.
    """
    check_time(permit)
    to = _addresses(message, "To")
    if len(to) > 1:
        to, copies = to[:1], to[1:]
    else:
        copies = []
    copies += _addresses(message, "Cc") + _addresses(message, "Bcc")
    recipients = recipients_for(permit, to[0] if to else None, copies)
    if not to:
        message["To"] = recipients[0]
    del message["Bcc"]
    for name, value in permit.headers.items():
        if name in ("In-Reply-To", "References") and name in message:
            continue
        del message[name]
        message[name] = value
    return recipients


def sender_of(message: EmailMessage) -> str:
    """The envelope's sender: Sender, else From (RFC 5322, section 3.6.2). Else raises Refused."""
    found = _addresses(message, "Sender") or _addresses(message, "From")
    if not found:
        raise Refused("the mail names no sender")
    return found[0]


def _addresses(message: EmailMessage, name: str) -> list[str]:
    return [address for _, address in getaddresses(message.get_all(name, [])) if address]


def _same(address: str) -> str:
    return address.strip().casefold()
