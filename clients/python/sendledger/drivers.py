"""The two drivers of the core: one performs its effects with blocking calls, one with asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any

import httpx

from sendledger.effects import Call, Do, Effect, Flow, HandOver, NoAnswer, Pause, Reply, T
from sendledger.observing import CallRecord, Hooks
from sendledger.permit import Permit


class Wire:
    """What a driver knows of the ledger: how a request looks, how an answer is read."""

    def __init__(self, url: str, key: str, hooks: Hooks) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
        self._hooks = hooks

    def request(self, call: Call) -> dict[str, Any]:
        """The arguments of httpx's `request`. Redirects are not followed: the key goes nowhere."""
        content, headers = None, {**self._headers, **call.headers}
        if call.body is not None:
            content = json.dumps(call.body).encode()
            headers["Content-Type"] = "application/json"
        return {
            "method": call.method,
            "url": self.url + call.path,
            "content": content,
            "headers": headers,
            "timeout": call.timeout,
            "follow_redirects": False,
        }

    def read(self, response: httpx.Response) -> Reply:
        """The answer of the ledger, or of whoever answered in its place."""
        try:
            body = response.json()
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status_code, body, headers)

    def record(self, call: Call, answer: Reply | NoAnswer, started: int, began: float) -> None:
        """Tell the hooks of one try."""
        status = answer.status if isinstance(answer, Reply) else 0
        code = answer.problem.get("code") if isinstance(answer, Reply) else answer.why
        permit_id = call.permit_id
        if permit_id is None and isinstance(answer, Reply) and isinstance(answer.body, dict):
            found = answer.body.get("permit_id")
            permit_id = found if isinstance(found, str) else None
        seconds = time.monotonic() - began
        self._hooks.on_call(
            CallRecord(call.operation, call.number, status, code, permit_id, started, seconds)
        )


def _resume(flow: Flow[Any], answer: Any, error: BaseException | None) -> Effect:
    """The next effect. Raises StopIteration at the end, which no coroutine may let out."""
    return flow.send(answer) if error is None else flow.throw(error)


class SyncDriver:
    """Performs effects with blocking calls. Threads may share it; a fork opens connections anew."""

    def __init__(self, wire: Wire, make: Callable[[], httpx.Client]) -> None:
        self._wire, self._make = wire, make
        self._client: httpx.Client | None = None
        self._pid = 0

    def run(self, flow: Flow[T]) -> T:
        """The result of a flow that hands nothing over."""
        try:
            effect = next(flow)
            while True:
                effect = _resume(flow, *self._perform(effect))
        except StopIteration as stop:
            result: T = stop.value
            return result

    def forward(self, flow: Flow[Any], answer: Any = None) -> Permit | None:
        """Run until a permit is handed over; None where the flow ended."""
        try:
            effect = flow.send(answer)
            while not isinstance(effect, HandOver):
                effect = _resume(flow, *self._perform(effect))
        except StopIteration:
            return None
        return effect.permit

    def iterate(self, flow: Flow[Any]) -> Iterator[Permit]:
        """Every permit that the flow hands over; leaving the loop ends the flow in good order."""
        permit = self.forward(flow)
        while permit is not None:
            try:
                yield permit
            except BaseException as error:
                self.forward(flow, error)
                raise
            permit = self.forward(flow)

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None and self._pid == os.getpid():
            self._client.close()
        self._client = None

    def _perform(self, effect: Effect) -> tuple[Any, BaseException | None]:
        try:
            if isinstance(effect, Call):
                return self._call(effect), None
            if isinstance(effect, Pause):
                time.sleep(effect.seconds)
                return None, None
            assert isinstance(effect, Do)
            return effect.send(effect.permit), None
        except BaseException as error:
            return None, error

    def _call(self, call: Call) -> Reply | NoAnswer:
        started, began = time.time_ns(), time.monotonic()
        answer: Reply | NoAnswer
        try:
            answer = self._wire.read(self._connected().request(**self._wire.request(call)))
        except httpx.HTTPError as error:
            answer = NoAnswer(type(error).__name__)
        self._wire.record(call, answer, started, began)
        return answer

    def _connected(self) -> httpx.Client:
        if self._client is None or self._pid != os.getpid():
            self._client, self._pid = self._make(), os.getpid()
        return self._client


class AsyncDriver:
    """Performs effects with asyncio; another event loop than before opens connections anew."""

    def __init__(self, wire: Wire, make: Callable[[], httpx.AsyncClient]) -> None:
        self._wire, self._make = wire, make
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, flow: Flow[T]) -> T:
        """The result of a flow that hands nothing over."""
        try:
            effect = next(flow)
            while True:
                effect = _resume(flow, *await self._perform(effect))
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def forward(self, flow: Flow[Any], answer: Any = None) -> Permit | None:
        """Run until a permit is handed over; None where the flow ended."""
        try:
            effect = flow.send(answer)
            while not isinstance(effect, HandOver):
                effect = _resume(flow, *await self._perform(effect))
        except StopIteration:
            return None
        return effect.permit

    async def iterate(self, flow: Flow[Any]) -> AsyncIterator[Permit]:
        """Every permit that the flow hands over; leaving the loop ends the flow in good order."""
        permit = await self.forward(flow)
        while permit is not None:
            try:
                yield permit
            except BaseException as error:
                await self.forward(flow, error)
                raise
            permit = await self.forward(flow)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None and self._loop is asyncio.get_running_loop():
            await self._client.aclose()
        self._client = None

    async def _perform(self, effect: Effect) -> tuple[Any, BaseException | None]:
        try:
            if isinstance(effect, Call):
                return await self._call(effect), None
            if isinstance(effect, Pause):
                await asyncio.sleep(effect.seconds)
                return None, None
            assert isinstance(effect, Do)
            return await effect.send(effect.permit), None
        except GeneratorExit:
            # The coroutine is thrown away, and may not await any more.
            raise
        except BaseException as error:
            return None, error

    async def _call(self, call: Call) -> Reply | NoAnswer:
        started, began = time.time_ns(), time.monotonic()
        answer: Reply | NoAnswer
        try:
            answer = self._wire.read(await self._connected().request(**self._wire.request(call)))
        except httpx.HTTPError as error:
            answer = NoAnswer(type(error).__name__)
        self._wire.record(call, answer, started, began)
        return answer

    def _connected(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._make(), loop
        return self._client


class Block:
    """`with` of a flow: the permit is there inside, what became of its mail is reported after."""

    def __init__(self, driver: SyncDriver, flow: Flow[None]) -> None:
        self._driver, self._flow = driver, flow

    def __enter__(self) -> Permit:
        permit = self._driver.forward(self._flow)
        assert permit is not None
        return permit

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._driver.forward(self._flow, error)


class AsyncBlock:
    """`async with` of a flow: the permit is there inside, what became of it is reported after."""

    def __init__(self, driver: AsyncDriver, flow: Flow[None]) -> None:
        self._driver, self._flow = driver, flow

    async def __aenter__(self) -> Permit:
        permit = await self._driver.forward(self._flow)
        assert permit is not None
        return permit

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._driver.forward(self._flow, error)
