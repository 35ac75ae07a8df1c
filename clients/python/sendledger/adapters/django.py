"""A Django e-mail backend that asks the ledger before each mail. Needs the extra `django`.

What a mail is, is said by a context (`mail_is`) or by its header `X-Ledger-Ask`, a JSON object with
the fields of a request, which does not leave with the mail. Settings:

- EMAIL_BACKEND = "sendledger.adapters.django.EmailBackend", or that as BACKEND in MAILERS
- SENDLEDGER_BACKEND: the backend that sends (default: Django's own for SMTP); in MAILERS it is the
  option `mailer`: the name of another entry
- SENDLEDGER_UNMARKED: what becomes of a mail that says nothing: "refuse" (default), or
  "notification": one mail for each content and recipient, whatever the reason to send it
- SENDLEDGER: keyword arguments of `Ledger`, beside LEDGER_URL and LEDGER_KEY
"""

from __future__ import annotations

import contextlib
import contextvars
import hashlib
import json
from collections.abc import Iterator, Sequence
from email.utils import getaddresses
from typing import Any

from django.conf import settings
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.utils.module_loading import import_string

from sendledger.adapters.addressing import check_time, recipients_for
from sendledger.client import Ledger
from sendledger.delivery import Delivered, Refused
from sendledger.errors import Denied, LedgerError
from sendledger.kinds import Ask, notification
from sendledger.observing import log
from sendledger.permit import Permit

ASK_HEADER = "X-Ledger-Ask"
_SMTP = "django.core.mail.backends.smtp.EmailBackend"
_said: contextvars.ContextVar[Ask | None] = contextvars.ContextVar("sendledger_ask", default=None)
_ledgers: dict[str, Ledger] = {}


@contextlib.contextmanager
def mail_is(ask: Ask) -> Iterator[None]:
    """Say what the mail is that the block sends. It is one mail: a second one is a duplicate."""
    token = _said.set(ask)
    try:
        yield
    finally:
        _said.reset(token)


class EmailBackend(BaseEmailBackend):  # type: ignore[misc]
    """Asks, redeems, sends by another backend, and reports.

    `send_messages` answers how many mails went out. A duplicate is not counted and raises nothing;
    any other no raises Denied, unless the mail is sent with `fail_silently`.
    """

    def __init__(
        self,
        fail_silently: bool = False,
        *,
        alias: str | None = None,
        mailer: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        options.pop("_ignore_unknown_kwargs", None)
        self.alias, self.fail_silently = alias, fail_silently
        self._inner = _sending_backend(mailer, options)

    def open(self) -> bool | None:
        """Open the connection of the backend that sends."""
        opened: bool | None = self._inner.open()
        return opened

    def close(self) -> None:
        """Close the connection of the backend that sends."""
        self._inner.close()

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send what is granted; how many went out."""
        return sum(self._send(message) for message in email_messages or ())

    def _send(self, message: EmailMessage) -> int:
        try:
            handing = _Handing(self._inner, message)
            result = the_ledger().send_once(ask_of(message), send=handing)
            return int(result.state == "sent" and not result.duplicate)
        except Denied as denied:
            log.warning("a mail is not sent: %s", denied.code)
            if not self.fail_silently:
                raise
        except (LedgerError, OSError):
            if not self.fail_silently:
                raise
        return 0


class _Handing:
    """Hands one message to the backend that sends."""

    def __init__(self, inner: BaseEmailBackend, message: EmailMessage) -> None:
        self._inner, self._message = inner, message

    def __call__(self, permit: Permit) -> Delivered:
        message = self._message
        check_time(permit)
        recipients_for(permit, _bare(message.to[0]), _copies(message))
        own = {n: v for n, v in message.extra_headers.items() if n.lower() != ASK_HEADER.lower()}
        message.extra_headers = {**own, **permit.headers}
        if self._inner.send_messages([message]) != 1:
            permit.unknown("the backend does not say that the mail went out")
        return Delivered(provider="django")


def _sending_backend(mailer: str | None, options: dict[str, Any]) -> BaseEmailBackend:
    """The backend that sends. It is never silent: an error that it swallows looks like a mail."""
    if mailer is not None:
        return mail.mailers[mailer]
    return import_string(getattr(settings, "SENDLEDGER_BACKEND", _SMTP))(**options)


def ask_of(message: EmailMessage) -> Ask:
    """What the message is. Raises Refused for one that does not say, where none may go unmarked."""
    if not message.to:
        raise Refused("the mail names no recipient in To")
    said = _said.get()
    told = message.extra_headers.get(ASK_HEADER)
    if said is None and told is not None:
        fields = json.loads(told)
        said = Ask(fields.pop("kind"), fields)
    if said is None:
        said = _unmarked(message)
    copies = _copies(message)
    named: dict[str, Any] = {"cc": copies} if copies else {}
    return Ask(said.kind, {**said.fields, **named})


def the_ledger() -> Ledger:
    """The client of this process, made from the settings. Raises ImproperlyConfigured."""
    options = dict(getattr(settings, "SENDLEDGER", {}))
    known = repr(sorted(options.items(), key=lambda item: item[0]))
    if known not in _ledgers:
        try:
            _ledgers[known] = Ledger(**options)
        except LedgerError as error:
            raise ImproperlyConfigured(f"SENDLEDGER: {error}") from error
    return _ledgers[known]


def _unmarked(message: EmailMessage) -> Ask:
    rule = getattr(settings, "SENDLEDGER_UNMARKED", "refuse")
    if rule != "notification":
        raise Refused(f"the mail does not say what it is: use mail_is, or the header {ASK_HEADER}")
    to = _bare(message.to[0])
    content = json.dumps([to.casefold(), message.subject, message.body])
    digest = hashlib.sha256(content.encode()).hexdigest()
    return notification(event_type="django", event_id=digest, to=to)


def _copies(message: EmailMessage) -> list[str]:
    return [_bare(one) for one in (*message.to[1:], *message.cc, *message.bcc)]


def _bare(address: str) -> str:
    ((_, bare),) = getaddresses([address]) or [("", address)]
    return bare or address
