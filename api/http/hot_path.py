"""The hot path: answers about permits, and webhooks, without FastAPI; limits every body (D4)."""

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias

from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.contract.outcomes import OutcomeRequest
from api.contract.permits import RedeemRequest
from api.contract.problems import PROBLEM, ProblemError, invalid_answer, problem_answer
from api.http.auth import SEVERAL, caller_of, the_authorization
from api.http.context import Context
from api.http.door.protocol import RESERVE
from api.http.door.whole_answer import WHOLE_ANSWER, send_whole
from api.http.hot_routes import hot_route
from api.http.permit_reports import count_skipped, outcome_of, redeem_of
from api.http.permit_request import ask
from api.http.reserve import may_use_the_reserve
from api.running.latency import NO_ROUTE
from api.webhooks.answering import answer_webhook
from ledger.application.answers import Answer
from ledger.application.caller import Caller
from ledger.application.clock import stopwatch
from ledger.application.ports import StoreUnavailable

PERMITS = "/v1/permits"
WEBHOOKS = "/v1/webhooks/"
_REDEEM = "/redeem"
_OUTCOME = "/outcome"
_OF_ONE_PERMIT = 4
"""Slashes in the path of what is done with one permit."""
_KEY = b"idempotency-key"
_log = logging.getLogger("ledger.http")
Headers: TypeAlias = Iterable[tuple[bytes, bytes]]
_Way: TypeAlias = Callable[[Scope, str, Receive], Awaitable[Answer]]
_IN_NEED = ("/v1/control", "/v1/alerts")
"""What an operator's key is never limited in."""
_TYPE_OF_ANSWER = (b"content-type", b"application/json")
_TYPE_OF_PROBLEM = (b"content-type", PROBLEM.encode())
_CROWDED = problem_answer("unavailable", "there are too many connections; nothing was asked")


class TooLarge(Exception):
    """The body is larger than the limit; the connection is closed after the response."""


class Gone(Exception):
    """The caller went away before the body was whole: what came of it is not a request."""


class HasContext(Protocol):
    """An object that has the context."""

    context: Context


class HotPath:
    """An ASGI application around the whole service.

    Four endpoints get almost all of the load: they skip routing, dependency injection and response
    models, which cost more than the decision (ADR 0002). They also exist as FastAPI routes, for the
    OpenAPI document. All other requests are passed to FastAPI, with a limit on the body.
    """

    def __init__(self, app: ASGIApp, state: Any, limit: int) -> None:
        self._app = app
        self._state = state
        self._limit = limit

    @property
    def application(self) -> ASGIApp:
        """The FastAPI application inside."""
        return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, as ASGI defines it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = stopwatch()
        path: str = scope["path"]
        state = scope.get("state")
        if state and RESERVE in state and not await self._is_in_need(scope, path):
            await send_answer(scope, send, _CROWDED, close=True)
            return
        way = self._shortcut(path, scope["headers"]) if scope["method"] == "POST" else None
        if way is None:
            await self._limited(scope, receive, send, path)
            route = getattr(scope.get("route"), "path_format", NO_ROUTE)
            self._state.context.latencies.observe(scope["method"], route, stopwatch() - started)
            return
        try:
            answer = await _answered(way(scope, path, receive))
        except TooLarge:
            answer = problem_answer("too_large", "a body may have up to 1 MiB")
        except Gone:
            return
        await send_answer(scope, send, answer)
        self._state.context.latencies.observe("POST", hot_route(path), stopwatch() - started)

    async def _is_in_need(self, scope: Scope, path: str) -> bool:
        """Is this to be answered though all places are taken: an operator's call, or a probe's?"""
        if path == "/healthz":
            return True
        try:
            caller = await caller_of(self._state.context, _header(scope, b"authorization"))
        except (ProblemError, StoreUnavailable):
            return False
        return may_use_the_reserve(caller)

    async def _limited(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        """Pass a request to FastAPI, if its key may ask now."""
        context: Context = self._state.context
        header = _header(scope, b"authorization")
        caller = context.keys.known(header, context.engine.keys_version) if header else None
        if caller is None or (path.startswith(_IN_NEED) and may_use_the_reserve(caller)):
            await self._bounded(scope, receive, send)
            return
        refused = context.key_rates.enter(caller.key_id)
        if refused is not None:
            await send_answer(scope, send, refused)
            return
        try:
            await self._bounded(scope, receive, send)
        finally:
            context.key_rates.leave(caller.key_id)

    def _shortcut(self, path: str, headers: Headers) -> _Way | None:
        if path == PERMITS:
            return self._permit
        if path.startswith(PERMITS + "/") and path.count("/") == _OF_ONE_PERMIT:
            if path.endswith(_REDEEM):
                return self._permit
            # The answer to a report with an Idempotency-Key is stored, which few ask for.
            if path.endswith(_OUTCOME) and not any(name == _KEY for name, _ in headers):
                return self._permit
        if path.startswith(WEBHOOKS) and "/" not in path[len(WEBHOOKS) :]:
            return self._webhook
        return None

    async def _webhook(self, scope: Scope, path: str, receive: Receive) -> Answer:
        the_authorization(scope["headers"])
        body = await read_body(receive, self._limit)
        headers = {n.decode("latin-1"): v.decode("latin-1") for n, v in scope["headers"]}
        intake = self._state.context.intake
        return await answer_webhook(intake, path[len(WEBHOOKS) :], headers, body)

    async def _permit(self, scope: Scope, path: str, receive: Receive) -> Answer:
        """The answer to an ask, a redeem or an outcome; of who may not, the body is not read."""
        authorization = key_header = None
        for name, value in scope["headers"]:
            if name == b"authorization":
                if authorization is not None:
                    return problem_answer("unauthorized", SEVERAL)
                authorization = value
            elif name == _KEY:
                key_header = value.decode("latin-1")
        context: Context = self._state.context
        caller = await caller_of(context, authorization)
        if not caller.may("send") and not (path != PERMITS and caller.may("operate")):
            return problem_answer("forbidden", "this needs the scope send")
        refused = context.key_rates.enter(caller.key_id)
        if refused is not None:
            return refused
        try:
            body = await read_body(receive, self._limit)
            if path == PERMITS:
                return await ask(context, caller, path, body, key_header)
            return await _reported(context, caller, path, body)
        finally:
            context.key_rates.leave(caller.key_id)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to FastAPI and count its body; answer 413 if it is too large."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limit:
            await send_answer(
                scope, send, problem_answer("too_large", "a body may have up to 1 MiB")
            )
            return
        seen = 0
        started = False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self._limit:
                    raise TooLarge
            return message

        async def noted(message: Message) -> None:
            """Drop the application's response to an interrupted body: the answer is the 413."""
            nonlocal started
            if seen <= self._limit or started:
                started = True
                await send(message)

        with contextlib.suppress(TooLarge):
            await self._app(scope, counted, noted)
        if seen > self._limit and not started:
            await send_answer(
                scope, send, problem_answer("too_large", "a body may have up to 1 MiB")
            )


async def _answered(work: Awaitable[Answer]) -> Answer:
    """The answer, or the problem document of the error that was raised instead."""
    try:
        return await work
    except ValidationError as error:
        return invalid_answer(error)
    except ProblemError as error:
        return problem_answer(error.code, error.detail, **error.extra)
    except (TooLarge, Gone):
        raise
    except StoreUnavailable:
        return problem_answer("unavailable", "the store does not answer; nothing was granted")
    except Exception:
        _log.exception("a request could not be answered")
        return problem_answer("internal_error", "the request could not be answered; see the log")


async def _reported(context: Context, caller: Caller, path: str, body: bytes) -> Answer:
    """The answer to a redeem or an outcome. Raises ValidationError."""
    permit_id, what = path[len(PERMITS) + 1 :].split("/")
    if what == _REDEEM[1:]:
        asked = RedeemRequest.model_validate_json(body or b"{}")
        return await context.engine.submit(redeem_of(caller, permit_id, asked))
    report = outcome_of(caller, permit_id, OutcomeRequest.model_validate_json(body))
    if isinstance(report, Answer):
        return report
    return count_skipped(context.engine.counters, await context.engine.submit(report))


def _header(scope: Scope, wanted: bytes) -> bytes | None:
    for name, value in scope["headers"]:
        if name == wanted:
            return bytes(value)
    return None


async def read_body(receive: Receive, limit: int) -> bytes:
    """The whole body, of up to `limit` bytes. Raises TooLarge or Gone."""
    chunks: list[bytes] = []
    seen = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Gone
        chunk = message.get("body", b"")
        seen += len(chunk)
        if seen > limit:
            raise TooLarge
        if not message.get("more_body", False):
            return chunk if not chunks else b"".join((*chunks, chunk))
        chunks.append(chunk)


async def send_answer(scope: Scope, send: Send, answer: Answer, close: bool = False) -> None:
    """Send an answer; its body was encoded when it was decided and is not encoded again.

    `close`: the connection ends with it.
    """
    headers = [
        _TYPE_OF_PROBLEM if answer.status >= 400 else _TYPE_OF_ANSWER,
        (b"content-length", b"%d" % len(answer.body)),
    ]
    for name, value in answer.headers:
        headers.append((name.lower().encode(), value.encode()))
    if close:
        headers.append((b"connection", b"close"))
    if answer.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    can_be_whole = not close and WHOLE_ANSWER in scope.get("extensions", ())
    if can_be_whole and send_whole(send, answer.status, headers, answer.body):
        return
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
