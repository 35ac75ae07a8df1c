"""The SMTP server that programs speak to: strict about line ends, bounded, with logins."""

import asyncio
import hmac
import logging
import ssl
from ipaddress import ip_address, ip_network
from typing import Any, Protocol

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from api.gates.smtp.configuration import Bounds, GateFile

_log = logging.getLogger("ledger.gate")
_LONGEST_LINE = 64 * 1024
"""Bytes: longer than RFC 5321 allows, since old programs write long lines; upstream may object."""
_CALLS = {"AUTH": 5, "HELO": 20, "EHLO": 20, "NOOP": 200, "VRFY": 20, "*": 1_000_000}
"""How often a connection may give each command."""
_BARE = (
    b"550 5.5.2 a line ends with CR LF, and neither stands alone (RFC 5321, section 2.3.8); bye\r\n"
)
_FULL = b"421 4.3.2 the gate has as many connections as it takes\r\n"


class Takes(Protocol):
    """Takes a mail: the login (None: anonymous), the envelope and the data; gives the reply."""

    async def take(self, login: str | None, envelope: Envelope) -> str:
        """The reply to the data."""
        ...


class Connections:
    """Counts the open connections."""

    def __init__(self, most: int) -> None:
        self.most, self.open = most, 0


class GateProtocol(SMTP):
    """One connection.

    A bare CR or LF, in a command or in the data, ends it: servers that disagree on where a line
    ends can be made to see other mails than the gate did ("SMTP smuggling", CVE-2023-51764).
    """

    line_length_limit = _LONGEST_LINE

    def __init__(self, handler: "Handler", connections: Connections, **more: Any) -> None:
        super().__init__(handler, command_call_limit=_CALLS, **more)
        self._connections = connections
        self._is_counted = self._is_over = self._after_cr = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection; one too many is told so and closed."""
        self._after_cr = False
        if self._original_transport is None:
            if self._connections.open >= self._connections.most:
                self._is_over = True
                assert isinstance(transport, asyncio.Transport)
                transport.write(_FULL)
                transport.close()
                return
            self._connections.open += 1
            self._is_counted = True
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is over."""
        if self._is_counted:
            self._connections.open -= 1
            self._is_counted = False
        if self.session is not None and self._reader is not None:
            super().connection_lost(error)

    def eof_received(self) -> bool | None:
        """The program says no more."""
        return False if self._is_over else super().eof_received()

    def data_received(self, data: bytes) -> None:
        """Take what came, unless a line end in it is none."""
        if self._is_over:
            return
        joined = (b"\r" if self._after_cr else b"") + data
        self._after_cr = joined.endswith(b"\r")
        pairs = joined.count(b"\r\n")
        if joined.count(b"\n") != pairs or joined.count(b"\r") != pairs + self._after_cr:
            self._is_over = True
            _log.warning("a bare CR or LF was refused")
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.write(_BARE)
            self.transport.close()
            return
        super().data_received(data)

    def keep_open(self, seconds: float) -> None:
        """Do not take the program for idle for so many seconds: it waits for its reply."""
        if self.transport is not None:
            self._reset_timeout(seconds)


class Handler:
    """What the server does with each command."""

    def __init__(self, file: GateFile, gate: Takes) -> None:
        self._file, self._gate = file, gate
        self._logins = {one.username.encode(): one for one in file.login}
        anonymous = file.anonymous
        self._networks = [ip_network(one) for one in anonymous.networks] if anonymous else []

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        """Is it a known login with its password?"""
        assert isinstance(data, LoginPassword)
        login = self._logins.get(data.login)
        expected = login.password.encode() if login is not None else b""
        fits = hmac.compare_digest(expected, data.password)
        if login is None or not fits:
            _log.warning("a login was refused")
            return AuthResult(success=False, handled=False)
        return AuthResult(success=True, auth_data=login.username)

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, lines: list[str]
    ) -> list[str]:
        """Offer pipelining (RFC 2920) and enhanced status codes (RFC 2034) too."""
        session.host_name = hostname
        extra = ["250-PIPELINING", "250-ENHANCEDSTATUSCODES"]
        return [*lines[:-1], *extra, lines[-1]]

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """The sender of a mail."""
        if not session.authenticated and not self._may_be_anonymous(session):
            return "530 5.7.0 Authentication required"
        if not address:
            return "550 5.1.7 the gate takes no mail without a sender"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """A recipient."""
        if len(envelope.rcpt_tos) >= self._file.bounds.recipients:
            return f"452 4.5.3 at most {self._file.bounds.recipients} recipients"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """The mail."""
        assert isinstance(server, GateProtocol)
        bounds = self._file.bounds
        last = 4 * bounds.ledger_seconds + 4 * self._file.upstream.seconds
        server.keep_open(bounds.transaction_seconds + last)
        try:
            return await self._gate.take(session.auth_data, envelope)
        finally:
            server.keep_open(bounds.idle_seconds)

    async def handle_exception(self, error: Exception) -> str:
        """A defect of the gate; the program is not told its words, which may hold an address."""
        _log.error("the gate failed: %s", type(error).__name__, exc_info=error)
        return "451 4.3.0 the gate failed"

    def _may_be_anonymous(self, session: Session) -> bool:
        peer = session.peer
        if not self._networks or not isinstance(peer, tuple):
            return False
        address = ip_address(str(peer[0]).partition("%")[0])
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._networks)


def protocol(
    handler: Handler,
    connections: Connections,
    bounds: Bounds,
    context: ssl.SSLContext | None,
    *,
    plain_logins: bool,
    name: str,
) -> GateProtocol:
    """The protocol of a new connection; `plain_logins`: also without TLS."""
    return GateProtocol(
        handler,
        connections,
        data_size_limit=bounds.message_bytes,
        enable_SMTPUTF8=True,
        hostname=name,
        ident="send ledger gate",
        tls_context=context,
        timeout=bounds.idle_seconds,
        auth_require_tls=not plain_logins,
        authenticator=handler.authenticate,
        loop=asyncio.get_running_loop(),
    )
