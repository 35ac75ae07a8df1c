"""A stand-in for the ledger, for what a real one does only in trouble: lost answers, 503."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from sendledger import Ask, AsyncLedger, Granted, Ledger, Pace, Permit, SendResult

PERMIT_ID = "7d0f4a1e-0000-4000-8000-000000000001"
GRANT = {
    "permit_id": PERMIT_ID,
    "state": "granted",
    "kind": "notification",
    "customer_id": "C1",
    "to": "pat@example.com",
    "granted_at": "2026-12-01T00:00:00Z",
    "send_by": "2026-12-01T00:10:00Z",
    "message_id": "<p.mac@ledger.example>",
    "send_token": "p-token-mac",
    "provider_idempotency_key": "k" * 48,
}
ANSWERS = {
    "permits": (201, GRANT),
    "redeem": (200, {**GRANT, "state": "redeemed"}),
    "outcome": (200, {**GRANT, "state": "sent"}),
    "claim": (200, {"permits": [], "withheld": [], "position": "1"}),
}
Answer = Callable[[httpx.Request], httpx.Response]


class Clock:
    """A monotonic clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass the time at once."""
        self.slept.append(seconds)
        self.now += seconds

    async def asleep(self, seconds: float) -> None:
        """The same for asyncio."""
        self.sleep(seconds)


@dataclass
class Stub:
    """Answers calls by the last part of their path: the next of `script`, else all is well."""

    clock: Clock
    script: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[httpx.Request] = field(default_factory=list)

    def then(self, call: str, *answers: Answer) -> None:
        """The next answers to this call."""
        self.script.setdefault(call, []).extend(answers)

    def always(self, call: str, answer: Answer) -> None:
        """So many times this answer that no deadline outlasts it."""
        self.then(call, *[answer] * 10_000)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.asked.append(request)
        call = request.url.path.rsplit("/", 1)[-1]
        waiting = self.script.get(call)
        if waiting:
            return waiting.pop(0)(request)
        status, body = ANSWERS[call]
        return httpx.Response(status, json=body)

    def calls(self, call: str) -> list[httpx.Request]:
        """The requests of one kind."""
        return [r for r in self.asked if r.url.path.endswith("/" + call)]

    def bodies(self, call: str) -> list[dict[str, Any]]:
        """What was asked or told."""
        return [json.loads(r.content) for r in self.calls(call)]

    @property
    def pace(self) -> Pace:
        """A pace by the stub's clock, whose draws are all in the middle."""
        return Pace(clock=self.clock, draw=lambda: 0.5)

    @property
    def transport(self) -> httpx.MockTransport:
        """The way to the stub."""
        return httpx.MockTransport(self)


def lost(request: httpx.Request) -> httpx.Response:
    """The connection breaks before an answer."""
    raise httpx.ReadError("broken", request=request)


def no(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    """A problem document."""
    body = {"status": status, "code": code, "title": code, "detail": code, "retryable": False}

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={**body, **more}, headers=headers)

    return answer


def plain(status: int, headers: dict[str, str] | None = None, **parts: Any) -> Answer:
    """Any answer."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=headers, **parts)

    return answer


class Face(Protocol):
    """Either client, as the tests use it: both must do the same."""

    def send_once(self, ask: Ask, send: Callable[[Permit], Any]) -> SendResult[Any]:
        """Send once."""

    def block(self, ask: Ask, body: Callable[[Permit], Any]) -> None:
        """A block with this body."""

    def due(self, body: Callable[[Permit], Any], **options: Any) -> int:
        """The whole poller; how many permits it had."""

    def flush(self) -> int:
        """Report what the spool has."""

    def close(self) -> None:
        """Close the client."""


class SyncFace:
    """The blocking client."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.ledger = Ledger(*given, **options)

    def send_once(self, ask: Ask, send: Callable[[Permit], Any]) -> SendResult[Any]:
        """Send once."""
        return self.ledger.send_once(ask, send=send)

    def block(self, ask: Ask, body: Callable[[Permit], Any]) -> None:
        """A block with this body."""
        with self.ledger.permit(ask) as permit:
            body(permit)

    def due(self, body: Callable[[Permit], Any], **options: Any) -> int:
        """The whole poller; how many permits it had."""
        had = 0
        for permit in self.ledger.due(**options):
            had += 1
            body(permit)
        return had

    def flush(self) -> int:
        """Report what the spool has."""
        return self.ledger.flush()

    def close(self) -> None:
        """Close the client."""
        self.ledger.close()


class AsyncFace:
    """The client for asyncio, in a loop of its own."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.ledger = AsyncLedger(*given, **options)
        self.loop = asyncio.new_event_loop()

    def send_once(self, ask: Ask, send: Callable[[Permit], Any]) -> SendResult[Any]:
        """Send once."""

        async def awaited(permit: Permit) -> Any:
            return send(permit)

        return self._run(self.ledger.send_once(ask, send=awaited))

    def block(self, ask: Ask, body: Callable[[Permit], Any]) -> None:
        """A block with this body."""

        async def inside() -> None:
            async with self.ledger.permit(ask) as permit:
                body(permit)

        self._run(inside())

    def due(self, body: Callable[[Permit], Any], **options: Any) -> int:
        """The whole poller; how many permits it had."""

        async def inside() -> int:
            had = 0
            permits = self.ledger.due(**options)
            try:
                async for permit in permits:
                    had += 1
                    body(permit)
            finally:
                await permits.aclose()  # type: ignore[attr-defined]
            return had

        return self._run(inside())

    def flush(self) -> int:
        """Report what the spool has."""
        return self._run(self.ledger.flush())

    def close(self) -> None:
        """Close the client."""
        if not self.loop.is_closed():
            self._run(self.ledger.close())
            self.loop.close()

    def _run(self, work: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(work)


FACES = {"sync": SyncFace, "async": AsyncFace}


def a_permit(clock: Clock | None = None, **fields: Any) -> Permit:
    """A redeemed permit for a notification; `cc` and the like are what was asked for."""
    ask = Ask(str(fields.pop("kind", "notification")), dict(fields.pop("asked", {})))
    body = {**GRANT, "kind": ask.kind, "state": "redeemed", **fields}
    granted = Granted(body, 1000.0, ask)
    return Permit(granted, body, None, lambda permit: None, clock or Clock())
