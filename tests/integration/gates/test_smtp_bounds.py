"""What the gate bounds and refuses on the wire: sizes, counts, time, line ends, smuggled mails."""

import base64
import smtplib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.service import Client, Service
from tests.support.smtp_gate import (
    LOGIN,
    PASSWORD,
    UpstreamServer,
    eventually,
    gate_file,
    mail,
    running_gate,
    sends,
)

_SECRET = base64.b64encode(f"\0{LOGIN}\0{PASSWORD}".encode())
_HEAD = b"From: shop@acme.example\r\nSubject: one\r\n\r\n"


class Wire:
    """A connection to the gate, byte by byte."""

    def __init__(self, opened: socket.socket) -> None:
        self.socket, self.file = opened, opened.makefile("rb")

    def reply(self) -> bytes:
        """The next reply, its lines together; empty where the connection has ended."""
        said = b""
        while line := self.file.readline():
            said += line
            if line[3:4] == b" ":
                break
        return said

    def says(self, line: bytes) -> bytes:
        """The reply to a command."""
        self.socket.sendall(line + b"\r\n")
        return self.reply()

    def data_for(self, recipient: str) -> None:
        """Log in, and give all commands of a mail up to its data."""
        assert self.says(b"EHLO test").startswith(b"250")
        assert self.says(b"AUTH PLAIN " + _SECRET).startswith(b"235")
        assert self.says(b"MAIL FROM:<shop@acme.example>").startswith(b"250")
        assert self.says(b"RCPT TO:<" + recipient.encode() + b">").startswith(b"250")
        assert self.says(b"DATA").startswith(b"354")


@contextmanager
def wire(port: int) -> Iterator[Wire]:
    """A connection whose greeting was read."""
    with dialled(port) as talk:
        assert talk.reply().startswith(b"220 ")
        yield talk


@contextmanager
def dialled(port: int) -> Iterator[Wire]:
    """A connection of which nothing was read yet; closed whole, whatever happens in between."""
    with socket.create_connection(("127.0.0.1", port), timeout=300) as opened:
        talk = Wire(opened)
        with talk.file:
            yield talk


def test_all_commands_of_a_mail_may_come_at_once(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    to = f"pat-{name}@example.com".encode()
    one = b"MAIL FROM:<shop@acme.example>\r\nRCPT TO:<%s>\r\nDATA\r\n" % to
    with wire(gate) as talk:
        assert b"250-PIPELINING\r\n" in talk.says(b"EHLO test")
        talk.socket.sendall(b"AUTH PLAIN %s\r\n%s" % (_SECRET, one))
        assert [talk.reply()[:3] for _ in range(4)] == [b"235", b"250", b"250", b"354"]
        talk.socket.sendall(b"%s%s\r\n.\r\n%sQUIT\r\n" % (_HEAD, name.encode(), one))
        assert [talk.reply()[:3] for _ in range(4)] == [b"250", b"250", b"250", b"354"]
    assert len(upstream.mails) == 1


_NEXT = b"MAIL FROM:<evil@acme.example>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\n" + _HEAD


@pytest.mark.parametrize(
    "end",
    [
        b"\n.\n",
        b"\n.\r\n",
        b"\r.\r",
        b"\r\n.\n",
        b"\r\n.\r",
        b"\r.\r\n",
        b"\n\n.\r\n",
        b"\r\n\r.\r\n",
    ],
)
def test_a_smuggled_mail_is_refused(
    gate: int, upstream: UpstreamServer, name: str, end: bytes
) -> None:
    """Ends of data that some servers take for one, with another mail behind it."""
    with wire(gate) as talk:
        talk.data_for(f"pat-{name}@example.com")
        talk.socket.sendall(_HEAD + b"text" + end + _NEXT + b"text\r\n.\r\n")
        assert talk.reply().startswith(b"550 5.5.2 ")
        assert talk.reply() == b""
    assert upstream.mails == []


def test_a_line_end_may_come_in_two_pieces_and_half_of_one_is_refused(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    with wire(gate) as talk:
        talk.data_for(f"pat-{name}@example.com")
        for piece in (_HEAD + name.encode() + b"\r", b"\n.\r", b"\n"):
            talk.socket.sendall(piece)
            time.sleep(0.02)
        assert talk.reply().startswith(b"250 ")
        talk.socket.sendall(b"NOOP\r")
        time.sleep(0.02)
        talk.socket.sendall(b"QUIT\r\n")
        assert talk.reply().startswith(b"550 5.5.2 ")
    assert len(upstream.mails) == 1


def test_a_program_that_goes_before_the_reply_has_sent_its_mail_all_the_same(
    gate: int, upstream: UpstreamServer, key: Client, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    to = f"pat-{name}@example.com"
    with wire(gate) as talk:
        talk.data_for(to)
        upstream.on_data = lambda: talk.socket.shutdown(socket.SHUT_RDWR)
        talk.socket.sendall(_HEAD + name.encode() + b"\r\n.\r\n")
        eventually(lambda: bool(upstream.mails))
    upstream.on_data = lambda: None
    permit_id = str(upstream.mails[0].message["X-Ledger-Permit"])
    eventually(lambda: bool(key.get(f"/v1/permits/{permit_id}").ok()["state"] == "sent"))
    with wire(gate) as talk:
        talk.data_for(to)
        again = talk.says(_HEAD + name.encode() + b"\r\n.")
    assert again.startswith(b"550 5.7.1 already_sent: ")
    assert len(upstream.mails) == 1
    assert [record for record in caplog.records if record.name == "asyncio"] == []


def test_dots_at_the_beginning_of_lines_stay_what_they_are(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    text = f"{name}\n.\n..\n.a line\n"
    assert sends(gate, mail(name, text), f"pat-{name}@example.com")[0] == 250
    assert upstream.mails[0].content.endswith(text.replace("\n", "\r\n").encode())


def test_what_says_nothing_right_about_itself_is_refused(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    to = f"pat-{name}@example.com"
    for headers, word in (
        ({"X_Ledger_Kind": "letter"}, "X-Ledger-Kind must be one of"),
        ({"X_Ledger_Event_Id": name}, "X-Ledger-Kind must be there once"),
        ({"X_Ledger_Kind": "reminder", "X_Ledger_Colour": "red"}, "X-Ledger-Colour is no field"),
    ):
        code, text = sends(gate, mail(**headers), to)
        assert (code, text.split(" ")[0]) == (550, "5.6.0")
        assert word in text
    assert sends(gate, mail(X_Ledger_Kind="apology"), to)[1].startswith("5.7.1 invalid_request: ")
    assert sends(gate, mail(X_Ledger_Permit="p"), to) == (
        554,
        "5.4.6 the mail has been through a gate already",
    )
    with wire(gate) as talk:
        talk.data_for(to)
        assert talk.says(_HEAD + b"a\0b\r\n.").startswith(b"550 5.6.0 ")
    assert upstream.mails == []


def test_a_mail_has_a_size_and_so_many_recipients(
    service: Service, key: Client, upstream: UpstreamServer
) -> None:
    bounds = {"message_bytes": 4096, "recipients": 2}
    file = gate_file(str(service.http.base_url), key.key, bounds=bounds)
    with running_gate(file, upstream.port) as port:
        with smtplib.SMTP("127.0.0.1", port) as smtp:
            smtp.login(LOGIN, PASSWORD)
            with pytest.raises(smtplib.SMTPSenderRefused) as caught:
                smtp.send_message(mail(text="x" * 70 + "\n" * 5000), to_addrs=["a@example.com"])
            assert caught.value.smtp_code == 552
        with wire(port) as talk:
            talk.data_for("a@example.com")
            assert talk.says(_HEAD + b"x\r\n" * 2000 + b".").startswith(b"552 ")
        with smtplib.SMTP("127.0.0.1", port) as smtp:
            smtp.login(LOGIN, PASSWORD)
            smtp.mail("shop@acme.example")
            codes = [smtp.rcpt(f"{one}@example.com")[0] for one in "abc"]
            assert codes == [250, 250, 452]
    assert upstream.mails == []


def test_connections_have_a_number_and_a_time(
    service: Service, key: Client, upstream: UpstreamServer
) -> None:
    bounds = {"connections": 2, "idle_seconds": 0.3}
    file = gate_file(str(service.http.base_url), key.key, bounds=bounds)
    with running_gate(file, upstream.port) as port:
        with wire(port) as silent, wire(port):
            assert not _greets(port)
            assert silent.reply() == b"", "a silent connection ends by itself"
        eventually(lambda: _greets(port))


def _greets(port: int) -> bool:
    with dialled(port) as talk:
        said = talk.reply()
        assert said[:3] in (b"220", b"421")
        return said.startswith(b"220 ")


def test_a_hundred_recipients_get_one_mail_each(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    everybody = sorted(f"r{number:03}-{name}@example.com" for number in range(100))
    message = mail(name)
    assert sends(gate, message, *everybody)[0] == 250
    assert upstream.recipients() == everybody
    assert len({taken.message["X-Ledger-Permit"] for taken in upstream.mails}) == 100
    code, text = sends(gate, message, *everybody[:30])
    assert code == 550
    assert (
        text.splitlines()[0]
        == "5.7.1 30 of 30 recipients have the mail; a repeat goes to none of them"
    )
    assert text.splitlines()[-1] == "5.7.1 and 12 more"
    assert len(upstream.mails) == 100


def test_twenty_megabytes_arrive_as_they_left(
    gate: int, upstream: UpstreamServer, name: str
) -> None:
    upstream_limit = 33_554_432
    line = b"0123456789abcdef" * 50 + b"\r\n"
    content = _HEAD + name.encode() + b"\r\n" + line * (20_000_000 // len(line))
    assert len(content) < upstream_limit
    with smtplib.SMTP("127.0.0.1", gate, timeout=300) as smtp:
        smtp.login(LOGIN, PASSWORD)
        smtp.sendmail("shop@acme.example", [f"pat-{name}@example.com"], content)
    (taken,) = upstream.mails
    assert taken.content.endswith(content)
