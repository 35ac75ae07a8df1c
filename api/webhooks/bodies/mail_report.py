"""A mail system's report inside a mail, read with the library's parser (RFC 3464, RFC 8098)."""

import re
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import parseaddr

from api.webhooks.bodies.record import usable_address
from ledger.domain.automatic import DELIVERY_REPORT, READ_RECEIPT
from ledger.domain.identity import message_name

_ACTIONS = ("failed", "delayed", "delivered", "relayed", "expanded")
"""The worst first: of too many recipients those are told who were not reached."""
_RECIPIENTS = ("Original-Recipient", "Final-Recipient")
_MOST_RECIPIENTS = 50
_STATUS = re.compile(r"[245]\.\d{1,3}\.\d{1,3}\b")
_TYPES = {f"message/{kind}": kind for kind in (DELIVERY_REPORT, READ_RECEIPT)}
_ORIGINALS = ("message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers")


def reports_in(raw: bytes) -> list[dict[str, str]]:
    """The `reports` of a `thread.message` out of a whole mail: one for each recipient told of.

    Empty for a mail that is no report. `about` is the Message-ID of the mail reported on: the
    report's own word, else that of the original that it encloses.
    """
    mail = BytesParser(policy=compat32).parsebytes(raw)
    if mail.get_content_type() != "multipart/report":
        return []
    parts = list(mail.walk())
    status = next((part for part in parts if part.get_content_type() in _TYPES), None)
    if status is None:
        return []
    type_, groups = _TYPES[status.get_content_type()], _groups(status)
    report = {"type": type_}
    named = (_field(group, "Original-Message-ID") for group in groups)
    about = next(filter(None, named), None) or _original(parts)
    if about:
        report["about"] = message_name(about)
    told = [_recipient(g) for g in groups if type_ == DELIVERY_REPORT and _is_of_recipient(g)]
    return [report | one for one in sorted(told, key=_badness)[:_MOST_RECIPIENTS]] or [report]


def _groups(status: Message) -> list[Message]:
    """The groups of fields of a report: those of the message, then those of each recipient."""
    payload = status.get_payload()
    if isinstance(payload, list):
        return [group for group in payload if isinstance(group, Message)]
    text = status.get_payload(decode=True)
    body = text if isinstance(text, bytes) else b""
    return [
        BytesParser(policy=compat32).parsebytes(group, headersonly=True)
        for group in body.replace(b"\r\n", b"\n").split(b"\n\n")
    ]


def _field(group: Message, name: str) -> str:
    value = group.get(name)
    return " ".join(str(value).split()) if value is not None else ""


def _is_of_recipient(group: Message) -> bool:
    return any(group.get(name) is not None for name in ("Action", "Status", *_RECIPIENTS))


def _recipient(group: Message) -> dict[str, str]:
    """What the report tells of one recipient, as far as it can be read.

    The recipient whom we named stands before the one whom the mail was passed on to.
    """
    told = {}
    action = _field(group, "Action").lower().split(" ")[0]
    if action in _ACTIONS:
        told["action"] = action
    status = _STATUS.match(_field(group, "Status"))
    if status is not None:
        told["status"] = status.group()
    for name in _RECIPIENTS:
        address = parseaddr(_field(group, name).partition(";")[2])[1]
        if usable_address(address):
            told["recipient"] = address
            break
    return told


def _badness(told: dict[str, str]) -> int:
    return _ACTIONS.index(told.get("action", _ACTIONS[0]))


def _original(parts: list[Message]) -> str | None:
    """The Message-ID of the original mail that the report encloses, whole or by its headers."""
    for part in parts:
        if part.get_content_type() not in _ORIGINALS:
            continue
        for enclosed in _enclosed(part):
            found = enclosed.get("Message-ID")
            if found is not None:
                return " ".join(str(found).split())
    return None


def _enclosed(part: Message) -> list[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        return [item for item in payload if isinstance(item, Message)]
    text = part.get_payload(decode=True)
    return [BytesParser(policy=compat32).parsebytes(text)] if isinstance(text, bytes) else []
