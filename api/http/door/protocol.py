"""One connection: uvicorn's protocol, with bounds on heads, bodies, pipelines and time."""

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.http.door.limits import (
    LONGEST_HEAD,
    LONGEST_STRAY,
    LONGEST_URL,
    MOST_HEADERS,
    MOST_PIPELINED,
)
from api.http.door.refusals import refusal
from api.http.door.whole_answer import WHOLE_ANSWERS

if TYPE_CHECKING:
    from api.http.door.door import Door

RESERVE = "ledger.reserve"
"""In the state of a request that only an operator's key may make: everything else is taken."""
_LINGER_BYTES = 8 * 1024 * 1024
_LINGER_SECONDS = 2.0
"""So long a refused caller may still send, unread: a reset could destroy the answer on its way."""
_OF_A_HEADER = 32
"""What a header costs beside its text (RFC 9113, section 6.5.2)."""


class Phase(Enum):
    """What the service waits for; each has its own time."""

    SILENT = 1
    HEAD = 2
    BODY = 3
    ANSWER = 4
    IDLE = 5
    LEAVING = 6


class _Refused(Exception):
    """Raised in a callback of the parser, so that it stops; `BoundedProtocol.refused` says why."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection that the door has let in.

    `since` is when its phase began (the loop's time, seconds), `held` the bytes of bodies that it
    has brought and that are not answered yet.
    """

    def __init__(self, door: "Door", **given: Any) -> None:
        super().__init__(**given)
        self.door = door
        self.phase = Phase.SILENT
        self.since = 0.0
        self.unread_since: float | None = None
        self.held = 0
        self.reserve = False
        self._stray = 0
        self._head = 0
        self._refused: tuple[str, str] | None = None
        self._task: Any = None
        self._answering: RequestResponseCycle | None = None

    def connection_made(self, transport: Any) -> None:
        """Enter; the door may close another connection for this one, or refuse it."""
        self.since = self.loop.time()
        super().connection_made(transport)
        self.door.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave; a body whose request is still being answered counts until that is done."""
        super().connection_lost(exc)
        self.door.leave(self)
        held, self.held = self.held, 0
        if held and self._task is not None and not self._task.done():
            self._task.add_done_callback(lambda _: self.door.release(held))
        else:
            self.door.release(held)

    def data_received(self, data: bytes) -> None:
        """Parse what came; refuse what is too large, or is no HTTP."""
        phase = self.phase
        if phase is Phase.LEAVING:
            self._stray += len(data)
            if self._stray > _LINGER_BYTES:
                self.transport.close()
            return
        if phase is Phase.IDLE or phase is Phase.SILENT:
            self._enter(Phase.HEAD)
            self._stray = 0
        self._stray += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # The request is answered as any other; what follows it would be another protocol.
            self.cycle.keep_alive = False
        except httptools.HttpParserError:
            self.refuse(*(self._refused or ("bad_request", "this is not HTTP/1.1")))
            return
        if self._stray > LONGEST_STRAY:
            self.refuse("head_too_large", f"a head may have {LONGEST_HEAD} bytes")

    def on_message_begin(self) -> None:
        """Count a new head from nothing."""
        self._head = 0
        if self.phase is not Phase.HEAD:
            self._enter(Phase.HEAD)
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Bound the request target."""
        if len(self.url) + len(url) > LONGEST_URL:
            self._stop("uri_too_long", f"a path with its query may have {LONGEST_URL} bytes")
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; bound all of them together, those after a chunked body included.

        uvicorn's own does the same without the bounds; every request pays for each call.
        """
        headers = self.headers
        self._head += len(name) + len(value) + _OF_A_HEADER
        if self._head > LONGEST_HEAD or len(headers) >= MOST_HEADERS:
            detail = f"a request may have {MOST_HEADERS} headers of {LONGEST_HEAD} bytes in all"
            self._stop("head_too_large", detail)
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Start the request, as one for operators only where there is no place for others."""
        if len(self.pipeline) >= MOST_PIPELINED:
            self._stop("bad_request", f"{MOST_PIPELINED} requests of this connection wait")
        if self.reserve or self.door.is_crowded(len(self.tasks)):
            self.scope["state"][RESERVE] = True
        super().on_headers_complete()
        self.scope["extensions"] = WHOLE_ANSWERS
        self._stray = 0
        self._enter(Phase.BODY)

    def on_body(self, body: bytes) -> None:
        """Count what is held, which all connections together have a bound for."""
        self._stray = 0
        if not self.cycle.response_complete:
            self.held += len(body)
            self.door.hold(len(body), self)
            if self.phase is Phase.LEAVING:
                raise _Refused
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._stray = 0
        self._enter(Phase.IDLE if self.cycle.response_complete else Phase.ANSWER)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The answer is written: wait for the next request, or for the rest of this one.

        uvicorn's own also sets a timer for each idle connection, where the door's sweep has one for
        all.
        """
        self._let_go()
        if self.phase is Phase.ANSWER and not self.pipeline:
            self._enter(Phase.IDLE)
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def refuse(self, code: str, detail: str) -> None:
        """Answer with a problem document and close, in whatever state the connection is.

        Where an earlier request is still being answered, only that answer goes out: a refusal sent
        now would be taken for it.
        """
        if self.transport.is_closing() or self.phase is Phase.LEAVING:
            return
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            is_earlier = self.phase is not Phase.BODY or bool(self.pipeline)
            if is_earlier or cycle.response_started:
                self._end_after_answer()
                return
            cycle.disconnected = True
            cycle.message_event.set()
            self._let_go()
        if self.phase is Phase.BODY and cycle is not None and cycle.response_started:
            self.transport.close()
            return
        self.transport.write(refusal(code, detail))
        self._linger()

    def overdue(self, now: float) -> None:
        """End the connection where its phase has lasted too long; called by the door's sweep."""
        limits, waited = self.door.limits, now - self.since
        if self.phase is Phase.HEAD and waited > limits.head:
            self.refuse("request_timeout", f"a head may take {limits.head:g} seconds")
        elif self.phase is Phase.BODY and waited > limits.body:
            self.refuse("request_timeout", f"a body may take {limits.body:g} seconds")
        elif waited > self._patience():
            self.transport.close()

    def _patience(self) -> float:
        """How long, in seconds, before a connection is closed without a word."""
        limits = self.door.limits
        if self.phase is Phase.SILENT:
            return limits.first_byte
        if self.phase is Phase.LEAVING:
            return _LINGER_SECONDS
        return limits.idle if self.phase is Phase.IDLE else math.inf

    def _let_go(self) -> None:
        if self.held:
            self.door.release(self.held)
            self.held = 0

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.since = self.loop.time()

    def _stop(self, code: str, detail: str) -> None:
        """Make the parser give up: `data_received` then refuses the request."""
        self._refused = (code, detail)
        raise _Refused(code)

    def _end_after_answer(self) -> None:
        """Close once the request that is being answered is; those behind it were not begun."""
        if self._answering is not None:
            self._answering.keep_alive = False
        self.pipeline.clear()
        self.flow.pause_reading()
        self._enter(Phase.ANSWER)

    def _linger(self) -> None:
        """Read on without looking until the caller has read the answer and closes."""
        self._enter(Phase.LEAVING)
        self._stray = 0
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        task = self._task = self.loop.create_task(cycle.run_asgi(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
