"""What tests of the SMTP gate share: an upstream that counts, a gate in a thread, its file."""

import asyncio
import contextlib
import email
import email.policy
import smtplib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from api.gates.smtp.configuration import GateFile
from api.gates.smtp.gate import run_gate
from tests.support.receivers import free_port

LOGIN, PASSWORD = "shop", "the program's password"
_SECONDS = 300.0


@dataclass(frozen=True)
class Taken:
    """A mail that upstream took."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes

    @property
    def message(self) -> EmailMessage:
        """It, parsed."""
        return email.message_from_bytes(self.content, policy=email.policy.default)


@dataclass
class UpstreamServer:
    """Takes mails; `replies` says what it answers to `mail`, `data` or a recipient instead.

    None breaks the connection off; `on_data` is called before the data is answered.
    """

    port: int = 0
    mails: list[Taken] = field(default_factory=list)
    replies: dict[str, str | None] = field(default_factory=dict)
    on_data: Callable[[], None] = lambda: None

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """The sender."""
        envelope.mail_from = address
        return self._reply(server, "mail")

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """A recipient."""
        envelope.rcpt_tos.append(address)
        return self._reply(server, address)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """The mail; one that is refused is not counted."""
        assert isinstance(envelope.content, bytes)
        reply = self.replies.get("data", "250 2.0.0 queued as 7")
        if reply is None or reply.startswith("2"):
            sender = str(envelope.mail_from)
            self.mails.append(Taken(sender, tuple(envelope.rcpt_tos), envelope.content))
        self.on_data()
        return self._reply(server, "data")

    def recipients(self) -> list[str]:
        """Everybody who has got a mail, once for each."""
        return sorted(one for mail in self.mails for one in mail.recipients)

    def _reply(self, server: SMTP, command: str) -> str:
        reply = self.replies.get(
            command, "250 2.0.0 queued as 7" if command == "data" else "250 OK"
        )
        if reply is None:
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
            return "250 nobody hears this"
        return reply


@contextlib.contextmanager
def upstream_server(**more: Any) -> Iterator[UpstreamServer]:
    """An upstream during the block; `more` goes to aiosmtpd."""
    server = UpstreamServer(free_port())
    controller = Controller(
        server, hostname="127.0.0.1", port=server.port, enable_SMTPUTF8=True, **more
    )
    controller.start()
    try:
        yield server
    finally:
        controller.stop(no_assert=True)


def gate_file(url: str, key: str, **more: Any) -> GateFile:
    """A file with one login."""
    login = {"username": LOGIN, "password": PASSWORD, "key": key}
    return GateFile.model_validate({"ledger": url, "login": [login]} | more)


def written(folder: Path, text: str) -> Path:
    """A file for a gate in a process of its own."""
    path = folder / "gate.toml"
    path.touch(0o600)
    path.write_text(text)
    return path


@contextlib.contextmanager
def running_gate(
    file: GateFile, upstream: int, listen: str = "127.0.0.1", upstream_host: str = "127.0.0.1"
) -> Iterator[int]:
    """A gate in a thread, during the block; its port."""
    ports: list[int] = []
    started, loops = threading.Event(), []

    async def run() -> None:
        loops.append((asyncio.get_running_loop(), asyncio.current_task()))
        with contextlib.suppress(asyncio.CancelledError):
            await run_gate(
                file,
                (listen, 0),
                (upstream_host, upstream),
                lambda port: (ports.append(port), started.set())[0],
            )

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert started.wait(_SECONDS), "the gate does not start"
        yield ports[0]
    finally:
        loop, task = loops[0]
        loop.call_soon_threadsafe(task.cancel)
        thread.join(_SECONDS)


def mail(
    subject: str = "Your order", text: str = "It is on its way.\n", **headers: str
) -> EmailMessage:
    """A mail as a program writes it; `X_Ledger_Kind` becomes `X-Ledger-Kind`."""
    message = EmailMessage()
    message["From"] = "Acme <billing@acme.example>"
    message["Subject"] = subject
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


def sends(port: int, message: EmailMessage, *recipients: str) -> tuple[int, str]:
    """Hand the mail to the gate as a program does; the code and the text of the reply."""
    with smtplib.SMTP("127.0.0.1", port, timeout=_SECONDS) as smtp:
        smtp.login(LOGIN, PASSWORD)
        try:
            smtp.send_message(message, to_addrs=list(recipients))
        except smtplib.SMTPDataError as error:
            return error.smtp_code, str(error.smtp_error, "ascii")
    return 250, ""


def eventually(check: Callable[[], bool]) -> None:
    """Wait until it holds."""
    give_up = time.monotonic() + _SECONDS
    while not check():
        assert time.monotonic() < give_up, "it did not come to hold"
        time.sleep(0.01)
