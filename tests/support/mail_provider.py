"""A stand-in for the mail providers: takes mails in each one's form, and counts them."""

import base64
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import getaddresses
from http.server import BaseHTTPRequestHandler
from typing import Any

from api.gates.http.call import Call
from api.gates.http.form_body import Form, form_of
from tests.support.loopback_server import serving, whole_body

KEY = "key-of-the-provider"
"""The one key that it takes."""


@dataclass(frozen=True)
class ProviderMail:
    """A mail that it took: JSON, or a form; `headers` are those of the request, in lower case."""

    path: str
    headers: dict[str, str]
    json: Any
    form: Form | None
    message_id: str

    @property
    def recipients(self) -> list[str]:
        """Everybody whom it goes to."""
        return sorted(_recipients(self))

    @property
    def carried(self) -> dict[str, str]:
        """The headers of the mail itself."""
        if self.form is not None:
            return {k[2:]: v[0] for k, v in self.form.fields.items() if k.startswith("h:")}
        if "Headers" in self.json:
            return {one["Name"]: one["Value"] for one in self.json["Headers"]}
        person = self.json.get("personalizations", [{}])[0]
        return {**self.json.get("headers", {}), **person.get("headers", {})}


@dataclass
class MailProvider:
    """Takes mails. `answers` are given instead of the next ones: a status and a body.

    A status of 0 breaks the connection off, and so does a mail that `is_lost` picks; the mail
    counts where the status is 0 or above 499.
    `on_mail` is called before a mail is answered; `calls` are those that sent nothing.
    """

    url: str = ""
    mails: list[ProviderMail] = field(default_factory=list)
    answers: list[tuple[int, Any]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    on_mail: Callable[[ProviderMail], None] = lambda mail: None
    is_lost: Callable[[ProviderMail], bool] = lambda mail: False

    def clear(self) -> None:
        """As if it were new."""
        self.mails.clear(), self.answers.clear(), self.calls.clear()
        self.on_mail = lambda mail: None

    def recipients(self) -> list[str]:
        """Everybody who has got a mail, once for each."""
        return sorted(one for mail in self.mails for one in mail.recipients)


@contextmanager
def mail_provider() -> Iterator[MailProvider]:
    """A stand-in during the block."""
    provider = MailProvider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = whole_body(self)
            headers = {name.lower(): value for name, value in self.headers.items()}
            if not _has_key(headers):
                self.answer(401, _error(self.path, 401, "no such key"))
                return
            if not _sends(self.path):
                self.other()
                return
            mail = _read(self.path, headers, body)
            status, content = provider.answers.pop(0) if provider.answers else (200, None)
            if status in (0, 200) or status >= 500:
                provider.mails.append(mail)
            provider.on_mail(mail)
            if status == 0 or provider.is_lost(mail):
                self.close_connection = True
                return
            if status == 200:
                self.accepted(mail)
            else:
                self.answer(status, content)

        def other(self) -> None:
            """A call that sends nothing."""
            provider.calls.append(f"{self.command} {self.path}")
            self.answer(200, {"id": "thing", "object": "thing"})

        do_GET = do_PUT = do_PATCH = do_DELETE = other

        def accepted(self, mail: ProviderMail) -> None:
            """The provider's success."""
            if self.path == "/v3/mail/send":
                self.answer(202, None, {"X-Message-Id": mail.message_id})
            elif self.path.startswith("/email/") or self.path == "/email":
                told = {"To": mail.json.get("To"), "MessageID": mail.message_id}
                at = "2026-12-01T00:00:00.0000000-00:00"
                self.answer(200, {**told, "SubmittedAt": at, "ErrorCode": 0, "Message": "OK"})
            elif self.path == "/emails":
                self.answer(200, {"id": mail.message_id})
            else:
                told = {"id": f"<{mail.message_id}>", "message": "Queued. Thank you."}
                self.answer(200, told)

        def answer(self, status: int, content: Any, more: dict[str, str] | None = None) -> None:
            """Answer; whoever was killed meanwhile does not hear it."""
            body = b"" if content is None else json.dumps(content).encode()
            try:
                self.send_response(status)
                for name, value in (more or {}).items():
                    self.send_header(name, value)
                if body:
                    self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Do not log requests to standard error."""

    with serving(Handler) as provider.url:
        yield provider


def _sends(path: str) -> bool:
    return path in ("/emails", "/email", "/email/withTemplate", "/v3/mail/send") or (
        path.startswith("/v3/") and path.endswith("/messages")
    )


def _has_key(headers: dict[str, str]) -> bool:
    basic = base64.b64encode(f"api:{KEY}".encode()).decode()
    given = headers.get("x-postmark-server-token"), headers.get("authorization")
    return KEY in given or f"Bearer {KEY}" in given or f"Basic {basic}" in given


def _read(path: str, headers: dict[str, str], body: bytes) -> ProviderMail:
    form = None if headers["content-type"].startswith("application/json") else _form(headers, body)
    value = json.loads(body) if form is None else None
    return ProviderMail(path, headers, value, form, str(uuid.uuid4()))


def _form(headers: dict[str, str], body: bytes) -> Form:
    return form_of(Call("POST", "/", "", tuple(headers.items()), body))


def _recipients(mail: ProviderMail) -> Iterator[str]:
    for name in ("to", "cc", "bcc"):
        if mail.form is not None:
            yield from _bare(mail.form.fields.get(name, []))
        elif "personalizations" in mail.json:
            for person in mail.json["personalizations"]:
                yield from (one["email"] for one in person.get(name, []))
        else:
            found = mail.json.get(name) or mail.json.get(name.title()) or []
            yield from _bare([found] if isinstance(found, str) else found)


def _bare(texts: list[str]) -> list[str]:
    return [address for _, address in getaddresses(texts)]


def _error(path: str, status: int, text: str) -> Any:
    if path.startswith("/v3/mail"):
        return {"errors": [{"message": text, "field": None, "help": None}]}
    if path.startswith("/email/") or path == "/email":
        return {"ErrorCode": 10, "Message": text}
    return {"statusCode": status, "name": "invalid_api_key", "message": text}
