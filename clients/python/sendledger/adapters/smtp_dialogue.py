"""What is said to an SMTP server for one mail, and what its replies prove (RFC 5321).

A generator that does no I/O: the adapters of smtplib and aiosmtplib perform its steps. Until the
data is sent nothing was handed over; a reply to the data is definite either way; a connection that
breaks while the data is under way leaves a doubt.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8

from sendledger.adapters.addressing import dress, sender_of
from sendledger.delivery import Delivered, InDoubt, Refused
from sendledger.permit import Permit


@dataclass(frozen=True)
class Step:
    """One command: `mail`, `rcpt` or `data`, its argument, and the options of `mail`."""

    command: str
    argument: str
    content: bytes = b""
    options: tuple[str, ...] = ()


class Broken(Exception):
    """There is no reply: thrown into the dialogue by the adapter."""


Dialogue = Generator[Step, int, Delivered]


def dialogue(permit: Permit, message: EmailMessage, utf8: bool) -> Dialogue:
    """The steps for one mail; `utf8`: does the server offer SMTPUTF8?

    One recipient that is refused refuses the mail before its data, so that it is whole or not at
    all. Raises Refused or InDoubt.
    """
    recipients = dress(permit, message)
    sender = sender_of(message)
    international = not "".join([sender, *recipients]).isascii()
    if international and not utf8:
        raise Refused("the SMTP server lacks SMTPUTF8, which an address needs")
    content = message.as_bytes(policy=SMTPUTF8 if international else SMTP)
    options = ("SMTPUTF8", "BODY=8BITMIME") if international else ()
    yield from _accepted(Step("mail", sender, options=options), "the sender")
    for recipient in recipients:
        yield from _accepted(Step("rcpt", recipient), "a recipient")
    try:
        code = yield Step("data", "", content)
    except Broken:
        raise InDoubt("the SMTP connection broke while the data was under way") from None
    if code >= 400:
        raise Refused(f"SMTP {code} for the data")
    if not 200 <= code < 300:
        raise InDoubt(f"SMTP {code} for the data")
    return Delivered(provider="smtp")


def _accepted(step: Step, whose: str) -> Generator[Step, int, None]:
    try:
        code = yield step
    except Broken:
        raise Refused("the SMTP connection broke before the data") from None
    if not 200 <= code < 300:
        raise Refused(f"SMTP {code} for {whose}")
