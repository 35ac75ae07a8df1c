"""Which tools of an e-mail server send mail, and what a call of one would send.

Servers name their tools and arguments as they like; these are the words that they use. What is not
certain counts as sending: a tool that is guarded without need costs a question.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import getaddresses
from typing import Any

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SEND = frozenset("send sends resend deliver dispatch submit schedule compose".split())
_ANSWER = frozenset("reply replies respond answer forward".split())
_READ = frozenset(
    "get list search read find fetch delete remove archive count label move mark validate verify"
    " check preview download cancel watch".split()
)
_MAIL = frozenset("mail mails email emails message messages draft drafts newsletter sms".split())
_TO = frozenset(
    "to recipient recipients toemail toemails toaddress toaddresses torecipients emailto receiver"
    " receivers email emailaddress toemailaddress sendto mailto recipientemail recipientemails"
    " recipientaddress recipientaddresses extrarecipients".split()
)
_CC = frozenset(
    "cc bcc ccemails bccemails ccrecipients bccrecipients ccaddresses bccaddresses".split()
)
_SUBJECT = frozenset("subject emailsubject title".split())
_TEXT = frozenset(
    "body text html content message bodytext bodyhtml htmlbody textbody bodyplain plaintext"
    " markdown htmlcontent textcontent emailbody".split()
)
_ANSWERED = frozenset("inreplyto inreplytomessageid replytomessageid replytoid".split())
_MESSAGE = frozenset("messageid emailid originalmessageid parentmessageid".split())
_THREAD = frozenset("threadid conversationid".split())
_DEPTH = 4
_LONGEST_SCHEMA_WALK = 500


@dataclass(frozen=True)
class ToolMail:
    """What a call of a sending tool says of its mail."""

    recipients: tuple[str, ...] = ()
    subject: str = ""
    text: str = ""
    answers: str | None = None
    thread_id: str | None = None


def is_sending(tool: Mapping[str, Any]) -> bool:
    """Does a tool with this name and schema send mail?

    A name whose first verb reads sends only with another verb, a recipient and a text; a verb of
    sending goes with mail in name or schema; without any it is told by a recipient and a text.
    """
    words = words_of(str(tool.get("name", "")))
    names = set(_property_names(tool.get("inputSchema")))
    takes_recipient, takes_text = bool(names & (_TO | _CC)), bool(names & (_TEXT | _SUBJECT))
    verbs = [word for word in words if word in _READ | _SEND | _ANSWER]
    if verbs and verbs[0] in _READ:
        return not _READ.issuperset(verbs) and takes_recipient and takes_text
    if not _SEND.isdisjoint(words):
        return takes_recipient or takes_text or not _MAIL.isdisjoint(words) or not names
    if "draft" in words:
        return False
    if not _ANSWER.isdisjoint(words):
        return takes_recipient or takes_text or not names
    return takes_recipient and takes_text


def mail_of(name: str, arguments: Mapping[str, Any]) -> ToolMail:
    """The mail of a call; what cannot be read is left out."""
    found = list(_leaves(arguments))
    recipients = [one for known in (_TO, _CC) for one in _addresses(found, known)]
    answered = _ANSWERED | _MESSAGE if not _ANSWER.isdisjoint(words_of(name)) else _ANSWERED
    return ToolMail(
        tuple(dict.fromkeys(recipients)),
        _first_text(found, _SUBJECT) or "",
        "\n".join(value for key, value in found if key in _TEXT and isinstance(value, str)),
        _first_text(found, answered),
        _first_text(found, _THREAD),
    )


def words_of(name: str) -> list[str]:
    """The words of a tool's name, in lower case: of `sendEmail`, `send-email`, `gmail.send`."""
    return [word.lower() for word in _WORDS.findall(name)]


def _property_names(schema: Any) -> Iterator[str]:
    """The names of all properties in a schema, wherever they stand, as they are compared."""
    waiting, seen = [schema], 0
    while waiting and seen < _LONGEST_SCHEMA_WALK:
        one, seen = waiting.pop(), seen + 1
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, Mapping):
            properties = one.get("properties")
            if isinstance(properties, Mapping):
                yield from (_plain(name) for name in properties)
            waiting += one.values()


def _leaves(arguments: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Each argument with its name as it is compared, those inside of others too."""
    for name, value in arguments.items():
        yield _plain(name), value
        if isinstance(value, Mapping) and depth < _DEPTH:
            yield from _leaves(value, depth + 1)


def _addresses(found: list[tuple[str, Any]], names: frozenset[str]) -> Iterator[str]:
    for name, value in found:
        if name in names:
            texts = list(_texts(value))
            yield from (address for _, address in getaddresses(texts) if "@" in address)


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth < _DEPTH:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one, depth + 1)


def _first_text(found: list[tuple[str, Any]], names: frozenset[str]) -> str | None:
    return next((v for name, v in found if name in names and isinstance(v, str) and v), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
