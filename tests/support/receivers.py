"""Real receivers of pages on the loopback interface: an HTTP server and an SMTP server."""

import email
import email.policy
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

_SECONDS = 30.0


@dataclass
class Webhook:
    """The requests of an HTTP receiver, and its answers: the next of `statuses`, else 200.

    Each answer has the request id that Opsgenie's clients look for.

    While `answering` is clear, requests are taken in but not answered.
    """

    port: int
    bodies: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    answering: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The Apprise URL of the receiver."""
        return f"json://127.0.0.1:{self.port}/hook"

    @property
    def keys(self) -> list[str]:
        """The dedupe keys of what it got."""
        return [body["dedupe_key"] for body in self.bodies]


@contextmanager
def webhook(port: int = 0) -> Iterator[Webhook]:
    """An HTTP server that accepts JSON, during the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            receiver.bodies.append(json.loads(self.rfile.read(length)))
            status = receiver.statuses.pop(0) if receiver.statuses else 200
            receiver.answering.wait(_SECONDS)
            # A sender that was killed meanwhile does not hear the answer.
            try:
                self.send_response(status)
                self.end_headers()
                self.wfile.write(b'{"requestId": "1"}')
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Do not log requests to standard error."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        receiver = Webhook(server.server_port)
        receiver.answering.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.answering.set()
            server.shutdown()
            thread.join()


@dataclass
class Mailbox:
    """The mails that an SMTP receiver accepted; it refuses the first `refusals` mails."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)
    refusals: int = 0

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Take or refuse one mail, as aiosmtpd calls it."""
        if self.refusals:
            self.refusals -= 1
            return "451 mailbox of oncall@example.com is busy"
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(email.message_from_bytes(content, policy=email.policy.default))
        return "250 OK"

    @property
    def url(self) -> str:
        """The Apprise URL of the receiver."""
        query = "from=ledger@example.com&to=oncall@example.com&mode=insecure"
        return f"mailto://127.0.0.1:{self.port}?{query}"


@contextmanager
def mailbox() -> Iterator[Mailbox]:
    """An SMTP server that runs during the block."""
    receiver = Mailbox(free_port())
    controller = Controller(receiver, hostname="127.0.0.1", port=receiver.port)
    controller.start()
    try:
        yield receiver
    finally:
        controller.stop()


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def text_of(mail: EmailMessage) -> str:
    """The text of a mail, whether plain or multipart."""
    body = mail.get_body(("plain", "html"))
    assert body is not None
    content: str = body.get_content()
    return content.replace("\r\n", "\n")
