"""The permit that a call of a sending tool needs.

The argument `send_ledger`, which the guard adds to such tools, says it; else the file; else the
message that the mail answers; else its recipients, subject and text, by a keyed fingerprint.
"""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sendledger import Ask

from api.gates.addresses import same_address
from api.gates.kinds import ANSWER, KINDS, NOTICE, TAKES_TO
from api.gates.mcp.guard_file import GuardFile
from api.gates.mcp.tool_mail import ToolMail, mail_of

ARGUMENT = "send_ledger"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": (
        "What this mail is, so that it is sent once: kind and its fields, such as "
        '{"kind": "notification", "event_type": "shipped", "event_id": "order-9"} or '
        '{"kind": "message", "thread_id": "t1", "intent": "refund_notice"}. '
        "Name the thing that happened, not the words of the mail."
    ),
    "properties": {"kind": {"type": "string", "enum": list(KINDS)}},
    "required": ["kind"],
    "additionalProperties": True,
}
_EVENT_TYPE = "agent_mail"
_LONGEST_ID = 255
_BLANKS = re.compile(r"\s+")
_UNCLEAR = (
    "The guard cannot tell what this mail is or whom it goes to; call the tool again with the "
    f"argument `{ARGUMENT}`, such as "
    '{"kind": "notification", "event_type": "shipped", "event_id": "order-9", "to": "…"}.'
)


class Unclear(Exception):
    """What the call would send, or to whom, is not what can be asked for.

    `code` is a short name; the message says what the agent can do.
    """

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code = code


@dataclass(frozen=True)
class Wanted:
    """What is to be asked; `instead` where the ledger does not know what the mail answers."""

    ask: Ask
    recipients: tuple[str, ...]
    instead: Ask | None = None


def wanted(name: str, arguments: Mapping[str, Any], file: GuardFile, key: bytes) -> Wanted:
    """The permit that this call needs. Raises Unclear."""
    given = {n: v for n, v in arguments.items() if n != ARGUMENT}
    mail, rule = mail_of(name, given), file.rule(name)
    said = arguments.get(ARGUMENT)
    if said is not None:
        if not isinstance(said, Mapping) or said.get("kind") not in KINDS:
            raise Unclear("unclear", _UNCLEAR)
        fields = {n: v for n, v in said.items() if n not in ("kind", "redeem", "override", "job")}
        return Wanted(_ask(said["kind"], fields, mail), mail.recipients)
    if rule.kind is not None:
        fields = {n: _filled(v, given) for n, v in rule.fields.items()}
        return Wanted(_ask(rule.kind, fields, mail), mail.recipients)
    named = _named(mail, key) if mail.recipients else None
    if mail.answers:
        thread_id = (mail.thread_id or mail.answers.strip("<>"))[:_LONGEST_ID]
        fields = {"thread_id": thread_id, "in_reply_to": mail.answers}
        return Wanted(_ask(ANSWER, fields, mail), mail.recipients, named)
    if named is None:
        raise Unclear("unclear", _UNCLEAR)
    return Wanted(named, mail.recipients)


def fingerprint_key(file: GuardFile, ledger_key: str) -> bytes:
    """The key of the fingerprints: of the file's secret, else of the ledger key."""
    secret = file.fingerprint_secret or ledger_key
    return hashlib.sha256(f"send-ledger mcp guard\0{secret}".encode()).digest()


def _ask(kind: str, fields: Mapping[str, Any], mail: ToolMail) -> Ask:
    given = dict(fields)
    if mail.recipients:
        # Whom the tool would mail counts, whatever the agent says of the mail.
        given |= {"to": mail.recipients[0]} if kind in TAKES_TO else {}
        given["cc"] = list(mail.recipients[1:]) or None
    return Ask(kind, given)


def _named(mail: ToolMail, key: bytes) -> Ask:
    digest = hmac.new(key, digestmod="sha256")
    recipients = sorted(same_address(one) for one in mail.recipients)
    said = (*recipients, _normal(mail.subject), _normal(mail.text))
    for part in (text.encode("utf-8", "replace") for text in said):
        digest.update(len(part).to_bytes(8, "big") + part)
    fields = {"event_type": _EVENT_TYPE, "event_id": digest.hexdigest()}
    return _ask(NOTICE, fields, mail)


def _normal(text: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip().casefold()


def _filled(value: Any, arguments: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        for name, given in arguments.items():
            if isinstance(given, str | int):
                value = value.replace("{" + name + "}", str(given))
        if re.search(r"\{\w+\}", value):
            raise Unclear("unclear", _UNCLEAR)
        return value
    return [_filled(one, arguments) for one in value] if isinstance(value, list) else value
