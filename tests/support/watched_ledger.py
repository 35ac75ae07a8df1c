"""A way to a ledger on which a test sees each answer before the program does."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.loopback_server import serving, whole_body

_SECONDS = 30.0
_PASSED_ON = ("content-type", "retry-after", "idempotent-replayed", "ledger-warning")


@dataclass
class WatchedLedger:
    """Its address; `on_answer` is called with the path of each request once it is answered."""

    url: str = ""
    paths: list[str] = field(default_factory=list)
    on_answer: Callable[[str], None] = lambda path: None


@contextmanager
def watched_ledger(target: str) -> Iterator[WatchedLedger]:
    """The way to the ledger at this address, during the block."""
    watched = WatchedLedger()
    host, port = urlsplit(target).hostname, urlsplit(target).port

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = whole_body(self)
            names = ("authorization", "content-type", "idempotency-key")
            given = {name: self.headers[name] for name in names if self.headers[name]}
            there = http.client.HTTPConnection(str(host), port, timeout=_SECONDS)
            try:
                there.request("POST", self.path, body, given)
                answer = there.getresponse()
                content = answer.read()
            except (OSError, http.client.HTTPException):
                self.close_connection = True
                return
            finally:
                there.close()
            watched.paths.append(self.path)
            watched.on_answer(self.path)
            try:
                self.send_response(answer.status)
                for name in _PASSED_ON:
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Do not log requests to standard error."""

    with serving(Handler) as watched.url:
        yield watched
