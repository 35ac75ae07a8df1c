"""Runs the SMTP gate: listens, takes mails, and ends in good order."""

import asyncio
import logging
import os
import socket
import ssl
from collections.abc import Callable

from aiosmtpd.smtp import Envelope as Received

from api.gates.ending import set_when_told_to_end
from api.gates.error import GateError
from api.gates.loopback import is_this_machine
from api.gates.purpose import Envelope
from api.gates.sender import Sender, open_sender
from api.gates.smtp.configuration import GateFile
from api.gates.smtp.listener import Connections, Handler, protocol
from api.gates.smtp.transaction import Transaction
from api.gates.smtp.upstream import Upstreams, certainly_not_out
from api.gates.under_way import UnderWay

_EVENT_TYPE = "smtp_mail"
"""What a mail is that is named by its fingerprint."""


class Gate:
    """A gate with its clients of the ledger: one for each login, and one for the anonymous."""

    def __init__(self, file: GateFile, upstreams: Upstreams) -> None:
        self._file, self._upstreams = file, upstreams
        self._under_way = UnderWay()
        self._senders: dict[str | None, Sender] = {}
        for login in file.login:
            self._senders[login.username] = self._sender(login.username, login.key, login.refused)
        if file.anonymous is not None:
            key = file.anonymous.key
            self._senders[None] = self._sender(None, key, file.anonymous.refused)

    async def take(self, login: str | None, envelope: Received) -> str:
        """The reply to a mail. It is seen through even where the program does not wait for it."""
        content, sender = envelope.content, envelope.mail_from
        assert isinstance(content, bytes)
        assert sender is not None
        recipients = tuple(dict.fromkeys(envelope.rcpt_tos))
        transaction = Transaction(
            self._file,
            self._senders[login],
            Envelope(login, sender, recipients, _EVENT_TYPE),
            envelope.mail_options,
            self._upstreams.connection(),
        )
        return await self._under_way.see_through(transaction.reply(content))

    async def end(self) -> None:
        """Wait for the mails under way, and close the clients."""
        await self._under_way.end()
        for sender in self._senders.values():
            await sender.ledger.close()

    def _sender(self, login: str | None, key: str, refused: str) -> Sender:
        seconds = self._file.bounds.ledger_seconds
        return open_sender(self._file, seconds, login, key, refused, classify=certainly_not_out)


async def run_gate(
    file: GateFile, listen: tuple[str, int], upstream: tuple[str, int], ready: Callable[[int], None]
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is told the port. Raises GateError."""
    context = _shown(file)
    host, port = listen
    if file.login and context is None and not is_this_machine(host):
        raise GateError("programs on other machines log in with TLS only: add [tls]")
    # The library logs commands, which hold passwords and addresses.
    logging.getLogger("mail.log").setLevel(logging.CRITICAL)
    gate = Gate(file, Upstreams(*upstream, file.upstream))
    connections = Connections(file.bounds.connections)
    try:
        handler = Handler(file, gate)
    except ValueError as error:
        raise GateError(f"anonymous.networks: {error}") from error
    name = socket.gethostname()

    def connected() -> asyncio.Protocol:
        plain = context is None
        return protocol(handler, connections, file.bounds, context, plain_logins=plain, name=name)

    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(connected, host, port)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise GateError(f"cannot listen on {host}:{port}: {why}") from error
    ended = asyncio.Event()
    set_when_told_to_end(ended)
    ready(server.sockets[0].getsockname()[1])
    try:
        await ended.wait()
    finally:
        server.close()
        await gate.end()


def _shown(file: GateFile) -> ssl.SSLContext | None:
    """The TLS context with the gate's certificate, None where the file names none."""
    if file.tls is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(file.tls.certificate, file.tls.private_key)
    except (OSError, ssl.SSLError) as error:
        raise GateError(f"tls: {file.tls.certificate} cannot be used: {error}") from error
    return context
