"""Writes an answer, head and body, at once: an ASGI extension of the door's connections.

Each write to a socket is a system call, a packet, and a wake-up of the caller. uvicorn writes the
head of an answer before it has seen the body, so that an answer costs two of each.
"""

from collections.abc import Iterable
from typing import Any

from starlette.types import Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

WHOLE_ANSWER = "ledger.whole_answer"
"""The name of the extension in the scope of a request that came through the door."""
WHOLE_ANSWERS: dict[Any, Any] = {WHOLE_ANSWER: {}}
"""The extensions of each such request; nothing in them leads back to it, which would be garbage."""


def piecewise(scope: Scope) -> None:
    """Have the answer of this request sent in pieces, since somebody changes or notes them."""
    scope["extensions"] = {}


def send_whole(
    send: Send, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes
) -> bool:
    """Write the answer of a request in one piece, and end its cycle as uvicorn does.

    `send` is the request's own, from the door. `headers` have lower-case names and a content-length
    that is the body's. False, with nothing written, where the answer needs more than that: the
    caller reads too slowly, or asked for a head alone. Raises ValueError for a header with a line
    break.
    """
    cycle: RequestResponseCycle = send.__self__  # type: ignore[attr-defined]
    if cycle.disconnected:
        return True
    if cycle.flow.write_paused or cycle.response_started or cycle.scope["method"] == "HEAD":
        return False
    content = [STATUS_LINE[status]]
    for name, value in (*cycle.default_headers, *headers):
        if b"\r" in value or b"\n" in value:
            raise ValueError(f"the header {name!r} has a line break")
        content += (name, b": ", value, b"\r\n")
    content.append(b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n")
    content.append(body)
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    cycle.transport.write(b"".join(content))
    cycle.message_event.set()
    if not cycle.keep_alive:
        cycle.transport.close()
    cycle.on_response()
    return True
