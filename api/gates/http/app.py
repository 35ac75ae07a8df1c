"""The gate as an ASGI application: bodies are bounded in size and in time."""

import asyncio
import logging
from typing import Any

from api.gates.http.call import Answer, Call
from api.gates.http.gate import HttpGate, unknown_provider
from api.gates.http.provider import Provider

_log = logging.getLogger("ledger.gate")


class GateApp:
    """Takes requests from the server, as ASGI has them."""

    def __init__(self, gate: HttpGate) -> None:
        self._gate = gate

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path = scope.get("raw_path", b"").decode("latin-1")
        provider, below = self._gate.provider(path)
        if provider is None:
            await _respond(send, unknown_provider())
            return
        body = await self._body(provider, scope, receive)
        if body is None:
            return
        if isinstance(body, Answer):
            await _respond(send, body)
            return
        headers = tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"])
        query = scope["query_string"].decode("latin-1")
        call = Call(scope["method"], below, query, headers, body)
        peer = scope["client"][0] if scope.get("client") else ""
        try:
            answer = await self._gate.answer(provider, call, peer)
        except Exception as error:
            # The program is not told the words of a defect, which may hold an address.
            _log.exception("the gate failed: %s", type(error).__name__)
            answer = provider.error(503, "unavailable", "unavailable: the gate failed")
        await _respond(send, answer)

    async def _body(self, provider: Provider, scope: Any, receive: Any) -> bytes | Answer | None:
        """The body, the answer to one that is too large or too slow, None if the program left."""
        most = self._gate.file.bounds.body_bytes
        headers = dict(scope["headers"])
        large = provider.error(413, "body_too_large", f"a body may have {most} bytes")
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            return provider.error(415, "invalid_request", "the gate takes no compressed bodies")
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            return large
        body = bytearray()
        try:
            async with asyncio.timeout(self._gate.file.bounds.idle_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > most:
                        return large
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            return provider.error(408, "request_timeout", "the body took too long")


async def _respond(send: Any, answer: Answer) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers.items()]
    headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
