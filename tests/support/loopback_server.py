"""An HTTP server on the loopback interface whose callers may be killed at any time."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that is gone is no error; everything else is told."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Its URL, during the block."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def whole_body(request: BaseHTTPRequestHandler) -> bytes:
    """The body of a request. Raises ConnectionError where its caller was killed while it sent."""
    length = int(request.headers.get("Content-Length") or 0)
    body = request.rfile.read(length)
    if len(body) < length:
        raise ConnectionError("the body was cut off")
    return body
