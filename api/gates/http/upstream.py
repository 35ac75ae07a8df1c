"""The providers' side: bounded calls, and what a missing answer proves."""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
from sendledger import Delivered, InDoubt, Refused
from sendledger.adapters.http_mailer import judge, no_answer

from api.gates.error import GateError
from api.gates.http.call import Answer, Call
from api.gates.http.configuration import HttpGateFile
from api.gates.http.credentials import sha256_of
from api.gates.http.provider import Outgoing, Provider

_KEPT = frozenset({"content-type", "retry-after", "x-message-id", "x-request-id"})
_KEPT_BEGIN = ("ratelimit-", "x-ratelimit-")
_PROBE_SECONDS = 5.0
OF_THE_KEY = frozenset({401, 429})
"""What upstream says of a key, or of how fast it is used: other mails would hear the same."""
_BELIEVED_SECONDS = 5.0
"""So long such an answer is believed where it has no Retry-After; at most so long where it has."""
_MOST_BELIEVED_SECONDS = 60.0
_MOST_KEYS = 1000


class Away(Exception):
    """Upstream cannot be reached; nothing was handed over."""


class SaidNo(Refused):
    """Upstream refused the mail, with this answer."""

    def __init__(self, detail: str, answer: Answer) -> None:
        super().__init__(detail)
        self.answer = answer


class Upstream:
    """One provider, whose certificate `trusted` judges.

    After a failed connection it is tried out before the next permit is asked for, and a key that it
    refused, or that it was asked with too fast, is not tried again at once: what is reported as
    rejected three times is held, and an outage or a limit must not do that.
    """

    def __init__(self, provider: Provider, file: HttpGateFile, trusted: ssl.SSLContext) -> None:
        self.provider, self._trusted = provider, trusted
        self._url = file.upstream.url.get(provider.name, provider.url)
        self._most = file.bounds.body_bytes
        self._client = httpx.AsyncClient(
            base_url=self._url,
            timeout=file.upstream.seconds,
            verify=trusted,
            trust_env=False,
            limits=httpx.Limits(max_connections=file.bounds.connections),
        )
        self._seconds = file.upstream.seconds
        self._was_away = False
        self._refused_keys: dict[str, tuple[float, SaidNo]] = {}

    async def check(self, call: Call) -> None:
        """Raises Away where the last connection failed, and one that is tried now does, too.

        Raises SaidNo where the call's key was refused a moment ago.
        """
        believed = self._refused_keys.get(self._key(call))
        if believed is not None and asyncio.get_running_loop().time() < believed[0]:
            raise SaidNo(believed[1].detail, believed[1].answer)
        if not self._was_away:
            return
        parts = urlsplit(self._url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                tls = self._trusted if parts.scheme == "https" else None
                _, writer = await asyncio.open_connection(parts.hostname, port, ssl=tls)
        except (OSError, TimeoutError) as error:
            raise Away(f"{self.provider.name} is away") from error
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        self._was_away = False

    async def hand_over(self, call: Call, mail: Outgoing) -> tuple[Delivered, Answer]:
        """Hand a mail over. Raises SaidNo, Refused where nothing was handed over, or InDoubt."""
        headers = {**call.picked(self.provider.headers), **mail.headers}
        if mail.json is not None:
            body: dict[str, Any] = {"json": mail.json}
        else:
            body = {"data": mail.form, "files": list(mail.files) or None}
        try:
            answer = await self._answer("POST", mail.path, headers, **body)
        except httpx.HTTPError as error:
            missing = no_answer(self.provider.client, error)
            self._was_away = isinstance(missing, Refused)
            raise missing from error
        self._was_away = False
        judged = httpx.Response(answer.status, headers=answer.headers, content=answer.body)
        try:
            return judge(self.provider.client, judged), answer
        except Refused as refused:
            no = SaidNo(refused.detail, answer)
            if answer.status in OF_THE_KEY:
                self._believe(call, no)
            raise no from refused

    async def pass_on(self, call: Call) -> Answer:
        """The answer to a call that sends nothing. Raises Away."""
        headers = call.picked(self.provider.headers | {"content-type"})
        target = f"{call.path}?{call.query}" if call.query else call.path
        try:
            return await self._answer(call.method, target, headers, content=call.body or None)
        except (httpx.HTTPError, InDoubt) as error:
            raise Away(f"{self.provider.name} is away") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _key(self, call: Call) -> str:
        return sha256_of(self.provider.credential(call) or "")

    def _believe(self, call: Call, no: SaidNo) -> None:
        """Repeat this answer for a while, without a question to the ledger."""
        if len(self._refused_keys) >= _MOST_KEYS:
            self._refused_keys.clear()
        told = no.answer.headers.get("retry-after", "")
        seconds = float(told) if told.isdecimal() else _BELIEVED_SECONDS
        until = asyncio.get_running_loop().time() + min(seconds, _MOST_BELIEVED_SECONDS)
        self._refused_keys[self._key(call)] = until, no

    async def _answer(
        self, method: str, target: str, headers: Mapping[str, str], **body: Any
    ) -> Answer:
        """The answer as a whole. Raises InDoubt for one that is too long, or takes too long."""
        # As bytes, as they came: a name of a program need not be ASCII.
        given = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()]
        try:
            async with (
                asyncio.timeout(2 * self._seconds),
                self._client.stream(method, target, headers=given, **body) as answer,
            ):
                content = bytearray()
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > self._most:
                        raise InDoubt(f"the answer of {self.provider.name} does not end")
        except TimeoutError as error:
            raise InDoubt(f"{self.provider.name} did not answer in time") from error
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name in _KEPT or name.startswith(_KEPT_BEGIN)
        }
        return Answer(answer.status_code, bytes(content), kept)


def trusted_by(file: HttpGateFile) -> ssl.SSLContext:
    """Whom the gate trusts as a provider. Raises GateError for a file that cannot be read."""
    try:
        return ssl.create_default_context(cafile=file.upstream.authorities)
    except (OSError, ssl.SSLError) as error:
        raise GateError(f"upstream: {file.upstream.authorities}: {error}") from error


def with_message_id(delivered: Delivered, own: str | None) -> Delivered:
    """What was delivered, under the program's own Message-ID where it has one."""
    return replace(delivered, message_id=own) if own else delivered
