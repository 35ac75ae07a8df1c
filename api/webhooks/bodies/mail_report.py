"""A mail system's report inside a mail, read with the library's parser (RFC 3464, RFC 8098)."""

from email.message import Message
from email.parser import BytesParser
from email.policy import compat32

from ledger.domain.automatic import DELIVERY_REPORT, READ_RECEIPT
from ledger.domain.identity import message_name

_ACTIONS = ("failed", "delayed", "delivered", "relayed", "expanded")
"""The worst first: a report on several recipients tells of the one who was not reached."""
_TYPES = {f"message/{kind}": kind for kind in (DELIVERY_REPORT, READ_RECEIPT)}
_ORIGINALS = ("message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers")


def report_in(raw: bytes) -> dict[str, str] | None:
    """The `report` of a `thread.message` out of a whole mail; None for a mail that is no report.

    `about` is the Message-ID of the mail reported on: the report's own word, else that of the
    original that it encloses.
    """
    mail = BytesParser(policy=compat32).parsebytes(raw)
    if mail.get_content_type() != "multipart/report":
        return None
    parts = list(mail.walk())
    status = next((part for part in parts if part.get_content_type() in _TYPES), None)
    if status is None:
        return None
    report = {"type": _TYPES[status.get_content_type()]}
    if report["type"] == DELIVERY_REPORT:
        action = _action(_fields(status, "Action"))
        if action is not None:
            report["action"] = action
    about = next(iter(_fields(status, "Original-Message-ID")), None) or _original(parts)
    if about:
        report["about"] = message_name(about)
    return report


def _fields(status: Message, name: str) -> list[str]:
    """The values of a field in every group of a report's fields."""
    groups = status.get_payload()
    if not isinstance(groups, list):
        text = status.get_payload(decode=True)
        body = text if isinstance(text, bytes) else b""
        groups = [
            BytesParser(policy=compat32).parsebytes(group, headersonly=True)
            for group in body.replace(b"\r\n", b"\n").split(b"\n\n")
        ]
    found = (group.get(name) for group in groups if isinstance(group, Message))
    return [" ".join(str(value).split()) for value in found if value is not None]


def _action(told: list[str]) -> str | None:
    words = {value.lower().split(" ")[0] for value in told}
    return next((action for action in _ACTIONS if action in words), None)


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
