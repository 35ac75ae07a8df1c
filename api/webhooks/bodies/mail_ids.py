"""The names of a mail as the ledger compares them: one rule for webhooks and imported logs.

A sender reports the id that its provider's send call answered. Events and logs of some providers
write it otherwise, and a mail that is not recognised counts twice.
"""

import re
from collections.abc import Callable, Mapping

from ledger.domain.identity import message_name

_SERVER_PART = re.compile(r"\.(?:filter|recvd)", re.ASCII)
_OWN_DOMAINS = ("amazonses.com", "mtasv.net")
"""Amazon SES and Postmark make the Message-ID of their own id, before the `@` of these."""


def bracketed(message_id: str) -> str:
    """A Message-ID in angle brackets, as mail carries it (RFC 5322)."""
    return message_id if message_id.startswith("<") else f"<{message_id}>"


def provider_message_id(provider: str, told: str) -> str:
    """A provider's id of a mail, as its send call answered it, from what an event or log tells.

    SendGrid appends the server that took the mail to `X-Message-Id`; Mailgun's events leave the
    brackets of the Message-ID off. The ids of all others are the same everywhere.
    """
    form = _FORMS.get(provider)
    return told if form is None else form(told)


def possible_ids(told: str) -> tuple[str, ...]:
    """Every id that a text from an unknown provider can stand for, the text itself first.

    Also for a Message-ID: in the domains of some providers it holds their own id.
    """
    forms = [told, *(form(told) for form in _FORMS.values())]
    inner, _, domain = message_name(told).strip("<>").rpartition("@")
    if not inner:
        forms = [form for form in forms if form != bracketed(told)]
    if any(domain == known or domain.endswith(f".{known}") for known in _OWN_DOMAINS):
        forms.append(inner)
    return tuple(dict.fromkeys(forms))


def _before_server(sg_message_id: str) -> str:
    """The `X-Message-Id` that the send call answered: the part before the server's name."""
    return _SERVER_PART.split(sg_message_id, maxsplit=1)[0] or sg_message_id


_FORMS: Mapping[str, Callable[[str], str]] = {"sendgrid": _before_server, "mailgun": bracketed}
