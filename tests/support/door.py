"""A server with the door in front of a small application, in a thread, and bare sockets to it."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn

from api.http.door.door import Door
from api.process.serving import server_config
from api.settings.greedy_callers import DoorLimits

_SECONDS = 20.0


@dataclass
class Guarded:
    """The server's port and door; requests for `/wait` are answered once `go_on` is set."""

    port: int
    door: Door
    go_on: threading.Event
    opened: list[socket.socket] = field(default_factory=list)

    def socket(self, first: bytes = b"") -> socket.socket:
        """A connection, on which these bytes were sent."""
        opened = socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS)
        self.opened.append(opened)
        if first:
            opened.sendall(first)
        return opened

    def until(self, reached: Any) -> None:
        """Wait until the function answers true."""
        give_up = time.monotonic() + _SECONDS
        while not reached():
            assert time.monotonic() < give_up, "it did not come to that"
            time.sleep(0.01)


def post(path: str = "/", length: int = 0, *headers: str) -> bytes:
    """The head of a POST."""
    lines = (f"POST {path} HTTP/1.1", "Host: door", f"Content-Length: {length}", *headers)
    return "\r\n".join([*lines, "", ""]).encode()


def answer_on(opened: socket.socket) -> tuple[int, bytes]:
    """The status and the bytes of all that comes until the connection ends; 0 for nothing."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while chunk := opened.recv(65_536):
            found += chunk
    opened.close()
    return (int(found.split()[1]) if found else 0), found


def one_answer(opened: socket.socket) -> int:
    """The status of one response with a Content-Length; the connection stays open."""
    found = b""
    while b"\r\n\r\n" not in found:
        chunk = opened.recv(65_536)
        assert chunk, f"the connection ended after {found!r}"
        found += chunk
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
    left = int(lengths[0].split(b":")[1]) - len(body)
    while left > 0:
        left -= len(opened.recv(left))
    return int(head.split()[1])


@contextlib.contextmanager
def guarded(**limits: Any) -> Iterator[Guarded]:
    """A running server with these limits."""
    go_on = threading.Event()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        if scope["path"] == "/wait":
            while not go_on.is_set():
                await asyncio.sleep(0.01)
        content = (
            b"x" * 2**23
            if scope["path"] == "/large"
            else b"%d%s" % (size, b" reserve" if scope["state"].get("ledger.reserve") else b"")
        )
        headers = [(b"content-length", b"%d" % len(content))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    config = server_config(application, DoorLimits(**limits))
    config.lifespan = "off"
    door: Any = config.http
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    found = Guarded(listener.getsockname()[1], door, go_on)
    found.until(lambda: server.started)
    try:
        yield found
    finally:
        go_on.set()
        for each in found.opened:
            each.close()
        server.should_exit = True
        thread.join(_SECONDS)
        listener.close()
