"""smtplib and aiosmtplib against a server that refuses, breaks off and answers late."""

from __future__ import annotations

import asyncio
import email
import smtplib
from collections.abc import Callable, Iterator
from email.message import EmailMessage

import aiosmtplib
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from clients.python.tests.stub import Clock, a_permit
from tests.support.receivers import free_port

from sendledger import Delivered, InDoubt, Permit, Refused
from sendledger.adapters.aiosmtp import AioSmtpMailer
from sendledger.adapters.smtp import SmtpMailer

Send = Callable[[Permit, EmailMessage], Delivered]


class Server:
    """Takes mails; `replies` says what it answers to a command instead, None breaks off."""

    def __init__(self) -> None:
        self.mails: list[tuple[Envelope, EmailMessage]] = []
        self.replies: dict[str, str | None] = {}

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
        """The mail."""
        content = envelope.content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, policy=email.policy.default)
        self.mails.append((envelope, message))
        return self._reply(server, "data")

    def _reply(self, server: SMTP, command: str) -> str:
        reply = self.replies.get(command, "250 OK")
        if reply is None:
            assert server.transport is not None
            server.transport.abort()
            return "250 nobody hears this"
        return reply


@pytest.fixture(scope="module")
def running() -> Iterator[tuple[Server, int]]:
    """One SMTP server for all tests."""
    server, port = Server(), free_port()
    controller = Controller(server, hostname="127.0.0.1", port=port, enable_SMTPUTF8=True)
    controller.start()
    yield server, port
    controller.stop()


@pytest.fixture
def server(running: tuple[Server, int]) -> Server:
    """The server, as if it were new."""
    running[0].mails.clear()
    running[0].replies.clear()
    return running[0]


@pytest.fixture(params=["smtplib", "aiosmtplib"])
def send(request: pytest.FixtureRequest, running: tuple[Server, int]) -> Send:
    """Either mailer: both must do the same."""
    port = running[1]
    if request.param == "smtplib":
        return SmtpMailer(lambda: smtplib.SMTP("127.0.0.1", port, timeout=10)).send
    mailer = AioSmtpMailer(lambda: aiosmtplib.SMTP(hostname="127.0.0.1", port=port, timeout=10))
    return lambda permit, message: asyncio.run(mailer.send(permit, message))


def mail(**headers: str) -> EmailMessage:
    """A mail as a program writes it, without To."""
    message = EmailMessage()
    message["From"] = "Acme <billing@acme.example>"
    message["Subject"] = "Your order"
    for name, value in headers.items():
        message[name] = value
    message.set_content("It is on its way.\n.\nA line of one dot is above.\n")
    return message


def test_a_mail_goes_to_the_permits_address_and_carries_its_headers(
    server: Server, send: Send
) -> None:
    assert send(a_permit(), mail()) == Delivered(provider="smtp")
    ((envelope, message),) = server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("billing@acme.example", ["pat@example.com"])
    assert message["To"] == "pat@example.com"
    assert message["Message-ID"] == "<p.mac@ledger.example>"
    assert message["X-Ledger-Send"] == "p-token-mac"
    assert message["Auto-Submitted"] == "auto-generated"
    text = message.get_content().replace("\r\n", "\n")
    assert text == "It is on its way.\n.\nA line of one dot is above.\n"


def test_copies_go_out_where_the_permit_names_them_and_no_bcc_shows(
    server: Server, send: Send
) -> None:
    permit = a_permit(asked={"cc": ["boss@example.com", "log@example.com"]})
    send(permit, mail(To="Pat <PAT@example.com>", Cc="boss@example.com", Bcc="log@example.com"))
    ((envelope, message),) = server.mails
    assert envelope.rcpt_tos == ["pat@example.com", "boss@example.com", "log@example.com"]
    assert "Bcc" not in message


@pytest.mark.parametrize(
    "headers",
    [
        {"To": "kim@example.com"},
        {"To": "pat@example.com, kim@example.com"},
        {"To": "pat@example.com", "Cc": "kim@example.com"},
        {"To": "pat@example.com", "Bcc": "kim@example.com"},
    ],
)
def test_nobody_whom_the_permit_does_not_name_gets_a_mail(
    server: Server, send: Send, headers: dict[str, str]
) -> None:
    with pytest.raises(Refused):
        send(a_permit(), mail(**headers))
    assert server.mails == []


def test_a_permit_without_an_address_leaves_it_to_the_mail(server: Server, send: Send) -> None:
    send(a_permit(to=None), mail(To="kim@example.com"))
    assert server.mails[0][0].rcpt_tos == ["kim@example.com"]
    with pytest.raises(Refused, match="recipient"):
        send(a_permit(to=None), mail())


@pytest.mark.parametrize(
    ("command", "reply", "error", "detail"),
    [
        ("mail", "553 no", Refused, "SMTP 553 for the sender"),
        ("mail", None, Refused, "the SMTP connection broke before the data"),
        ("pat@example.com", "550 no such user", Refused, "SMTP 550 for a recipient"),
        ("pat@example.com", "451 later", Refused, "SMTP 451 for a recipient"),
        ("pat@example.com", None, Refused, "the SMTP connection broke before the data"),
        ("data", "554 spam", Refused, "SMTP 554 for the data"),
        ("data", "451 later", Refused, "SMTP 451 for the data"),
        ("data", None, InDoubt, "the SMTP connection broke while the data was under way"),
    ],
)
def test_a_reply_is_definite_and_a_break_after_the_data_is_not(
    server: Server, send: Send, command: str, reply: str | None, error: type, detail: str
) -> None:
    server.replies[command] = reply
    with pytest.raises(error) as caught:
        send(a_permit(), mail())
    assert caught.value.detail == detail


def test_a_refused_copy_refuses_the_whole_mail_before_its_data(server: Server, send: Send) -> None:
    server.replies["boss@example.com"] = "550 no such user"
    with pytest.raises(Refused):
        send(a_permit(asked={"cc": ["boss@example.com"]}), mail(Cc="boss@example.com"))
    assert server.mails == []


def test_no_connection_is_a_refusal() -> None:
    port = free_port()
    with pytest.raises(Refused, match="ConnectionRefusedError"):
        SmtpMailer(lambda: smtplib.SMTP("127.0.0.1", port)).send(a_permit(), mail())
    with pytest.raises(Refused, match="SMTPConnectError"):
        asyncio.run(
            AioSmtpMailer(lambda: aiosmtplib.SMTP(hostname="127.0.0.1", port=port)).send(
                a_permit(), mail()
            )
        )


def test_a_permit_that_ran_out_is_not_handed_over(server: Server, send: Send) -> None:
    clock = Clock()
    clock.now += 600
    with pytest.raises(Refused, match="ran out"):
        send(a_permit(clock), mail())
    assert server.mails == []


def test_an_address_that_is_not_ascii_needs_smtputf8(server: Server, send: Send) -> None:
    send(a_permit(to="pät@example.com"), mail())
    assert server.mails[0][0].rcpt_tos == ["pät@example.com"]
