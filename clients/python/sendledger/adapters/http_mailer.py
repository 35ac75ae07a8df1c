"""Mail providers with an HTTP interface: one request, and what its answer proves.

A provider says how the request looks and what a success tells; two mailers perform it, one with
blocking calls, one with asyncio. Neither repeats a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from sendledger.adapters.addressing import check_time, recipients_for
from sendledger.delivery import Delivered, InDoubt, Refused
from sendledger.permit import Permit

_DOUBTFUL = frozenset({408, 409, 425})
"""4xx that do not say that nothing was taken: a time-out, or an earlier request of the same key."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True)
class Mail:
    """A mail for a provider; `to` only where the ledger knows no address; copies: the permit's."""

    sender: str
    subject: str
    text: str | None = None
    html: str | None = None
    to: str | None = None
    reply_to: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """One POST: `json` or the fields of a form, and credentials as a header or Basic `auth`."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    form: Mapping[str, Any] | None = None
    auth: tuple[str, str] | None = None


class Provider(Protocol):
    """How one provider is asked, and what its success says."""

    name: str

    def request(self, permit: Permit, to: str, mail: Mail, headers: Mapping[str, str]) -> Request:
        """The request; `headers` are those that the mail must carry, and its own."""

    def provider_message_id(self, answer: httpx.Response) -> str | None:
        """The provider's id of the mail that it took. Raises InDoubt for a success that is none."""


class HttpMailer:
    """Hands mails to a provider with blocking calls; `timeout` in seconds."""

    def __init__(
        self,
        provider: Provider,
        *,
        timeout: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._provider = provider
        self._client = httpx.Client(timeout=timeout, transport=transport)

    def send(self, permit: Permit, mail: Mail) -> Delivered:
        """Hand the mail over. Raises Refused or InDoubt."""
        request = request_for(self._provider, permit, mail)
        try:
            answer = self._client.post(request.url, **arguments(request))
        except httpx.HTTPError as error:
            raise no_answer(self._provider, error) from error
        return judge(self._provider, answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class AsyncHttpMailer:
    """Hands mails to a provider with asyncio; `timeout` in seconds."""

    def __init__(
        self,
        provider: Provider,
        *,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._provider = provider
        self._client = httpx.AsyncClient(timeout=timeout, transport=transport)

    async def send(self, permit: Permit, mail: Mail) -> Delivered:
        """Hand the mail over. Raises Refused or InDoubt."""
        request = request_for(self._provider, permit, mail)
        try:
            answer = await self._client.post(request.url, **arguments(request))
        except httpx.HTTPError as error:
            raise no_answer(self._provider, error) from error
        return judge(self._provider, answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def request_for(provider: Provider, permit: Permit, mail: Mail) -> Request:
    """The provider's request. Raises Refused for a mail that may not go out."""
    check_time(permit)
    to, *_ = recipients_for(permit, mail.to, [])
    return provider.request(permit, to, mail, {**mail.headers, **permit.headers})


def arguments(request: Request) -> dict[str, Any]:
    """The request as httpx takes it."""
    found = {"headers": dict(request.headers), "json": request.json, "data": request.form}
    given = {name: value for name, value in found.items() if value is not None}
    return given if request.auth is None else {**given, "auth": request.auth}


def judge(provider: Provider, answer: httpx.Response) -> Delivered:
    """What the answer proves. Raises Refused or InDoubt."""
    status = answer.status_code
    if 400 <= status < 500 and status not in _DOUBTFUL:
        raise Refused(f"{provider.name} answered {status}")
    if not 200 <= status < 300:
        raise InDoubt(f"{provider.name} answered {status}")
    return Delivered(provider.provider_message_id(answer), provider.name)


def no_answer(provider: Provider, error: httpx.HTTPError) -> Exception:
    """Refused where no connection was made, InDoubt for every other missing answer."""
    detail = f"{provider.name}: {type(error).__name__}"
    return Refused(detail) if isinstance(error, _NEVER_SENT) else InDoubt(detail)


def member(answer: httpx.Response, name: str) -> str | None:
    """A text in the answer's JSON, None where there is none."""
    try:
        body = answer.json()
    except ValueError:
        return None
    value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, str) else None
