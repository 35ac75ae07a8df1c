"""The server that takes the mails, and what its replies prove (RFC 5321).

Sender and recipients are told first, then the permit is asked for, then the data goes out. So an
upstream that is away or refuses somebody costs no permit.
"""

import contextlib
import ssl
from collections.abc import Sequence

import aiosmtplib
from sendledger import InDoubt, Refused

from api.gates.error import GateError
from api.gates.loopback import is_this_machine
from api.gates.smtp.configuration import Upstream


class SaidNo(Exception):
    """Upstream refused a command, or the data: the mail did not go out."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"SMTP {code}")
        self.code, self.text = code, text


class Away(Exception):
    """Upstream cannot be spoken to; nothing was handed over."""


class Upstreams:
    """Makes connections to upstream. Raises GateError for settings that cannot work."""

    def __init__(self, host: str, port: int, settings: Upstream) -> None:
        self._host, self._port, self._settings = host, port, settings
        here = is_this_machine(host)
        self._tls = settings.tls or ("none" if here else "starttls")
        if settings.password is not None and self._tls == "none" and not here:
            raise GateError("upstream: a password goes to another machine with TLS only")
        self._context: ssl.SSLContext | None = None
        if self._tls != "none":
            try:
                self._context = ssl.create_default_context(cafile=settings.authorities)
            except (OSError, ssl.SSLError) as error:
                raise GateError(f"upstream: {settings.authorities}: {error}") from error

    def connection(self) -> "UpstreamConnection":
        """A connection that is not open yet."""
        client = aiosmtplib.SMTP(
            hostname=self._host,
            port=self._port,
            username=self._settings.username,
            password=self._settings.password,
            use_tls=self._tls == "implicit",
            start_tls=self._tls == "starttls",
            tls_context=self._context,
            timeout=self._settings.seconds,
        )
        return UpstreamConnection(client)


class UpstreamConnection:
    """One connection; it is opened when it is needed, and again after it broke."""

    def __init__(self, client: aiosmtplib.SMTP) -> None:
        self._client = client
        self._begun = False

    async def begin(self, sender: str, recipients: Sequence[str], options: Sequence[str]) -> None:
        """Tell sender and recipients; an earlier mail that was not handed over is forgotten.

        `options` are those of the program's MAIL; what upstream does not know is left out. One
        recipient that is refused refuses the mail. Raises SaidNo or Away.
        """
        try:
            if not self._client.is_connected:
                await self._client.connect()
                self._begun = False
            if self._client.is_ehlo_or_helo_needed:
                await self._client.ehlo()
            if self._begun:
                await self._client.rset()
            self._begun = True
            known = self._known(options, [sender, *recipients])
            await self._client.mail(sender, options=known, encoding="utf-8")
            for recipient in recipients:
                await self._client.rcpt(recipient, encoding="utf-8")
        except aiosmtplib.SMTPAuthenticationError as error:
            self._client.close()
            raise Away(f"it refuses the gate's login ({error.code})") from error
        except aiosmtplib.SMTPResponseException as error:
            raise SaidNo(error.code, error.message) from error
        except (OSError, ValueError, aiosmtplib.SMTPException) as error:
            self._client.close()
            raise Away(type(error).__name__) from error

    async def hand_over(self, content: bytes) -> str:
        """Send the data; what upstream said. Raises SaidNo, or InDoubt where there is no reply."""
        self._begun = False
        try:
            said = await self._client.data(content)
        except aiosmtplib.SMTPResponseException as error:
            if error.code >= 400:
                raise SaidNo(error.code, error.message) from error
            raise InDoubt(f"SMTP {error.code} for the data") from error
        except (OSError, aiosmtplib.SMTPException) as error:
            self._client.close()
            raise InDoubt("the SMTP connection broke while the data was under way") from error
        return said.message

    async def close(self) -> None:
        """Take leave."""
        with contextlib.suppress(OSError, aiosmtplib.SMTPException):
            if self._client.is_connected:
                await self._client.quit(timeout=5)
        self._client.close()

    def _known(self, options: Sequence[str], addresses: Sequence[str]) -> list[str]:
        known = []
        for option in options:
            if option == "SMTPUTF8" and self._client.supports_extension("smtputf8"):
                known.append(option)
            if option.startswith("BODY=") and self._client.supports_extension("8bitmime"):
                known.append(option)
        if "SMTPUTF8" not in known and not "".join(addresses).isascii():
            raise SaidNo(550, "5.6.7 upstream lacks SMTPUTF8, which an address needs")
        return known


def certainly_not_out(error: BaseException) -> str | None:
    """For the client's `classify`: why the mail certainly did not go out, else None."""
    if isinstance(error, SaidNo):
        return f"SMTP {error.code}"
    return error.detail if isinstance(error, Refused) else None
