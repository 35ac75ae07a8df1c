"""A network for the chaos test: a receiver that counts mails, and a proxy that does harm."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.support.loopback_server import serving, whole_body

LATE = 0.45
"""Seconds: longer than the senders wait, so that a request comes after its repetition."""
FAULTS = ("drop_request", "drop_answer", "twice", "late", "busy")


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Do not log requests to standard error."""

    def answer(self, status: int, content: bytes, headers: list[tuple[str, str]]) -> None:
        """Answer; whoever was killed meanwhile does not hear it."""
        try:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True


@dataclass
class Mails:
    """How many mails of each send the receiver took."""

    url: str = ""
    counts: Counter[str] = field(default_factory=Counter)


@contextmanager
def receiver(seed: int, lost: float) -> Iterator[Mails]:
    """A receiver that counts a mail when it has it; so many answers (0 to 1) are lost."""
    mails, draw, lock = Mails(), random.Random(seed), threading.Lock()

    class Handler(_Handler):
        def do_POST(self) -> None:
            whole_body(self)
            with lock:
                mails.counts[self.path.strip("/")] += 1
                is_lost = draw.random() < lost
            if not is_lost:
                self.answer(200, b'{"id": "r_1"}', [("Content-Type", "application/json")])

    with serving(Handler) as mails.url:
        yield mails


@dataclass
class Proxy:
    """The proxy's address, and the faults that it made."""

    url: str = ""
    made: Counter[str] = field(default_factory=Counter)


@contextmanager
def harmful_proxy(target: str, seed: int, harm: float) -> Iterator[Proxy]:
    """A proxy to the ledger that does harm to so many requests (0 to 1)."""
    proxy, draw, lock = Proxy(), random.Random(seed), threading.Lock()
    parts = urlsplit(target)

    class Handler(_Handler):
        def do_POST(self) -> None:
            body = whole_body(self)
            with lock:
                fault = draw.choice(FAULTS) if draw.random() < harm else "none"
                proxy.made[fault] += 1
            if fault == "drop_request":
                return
            if fault == "busy":
                self.answer(503, b"busy", [])
                return
            if fault == "late":
                time.sleep(LATE)
            if fault == "twice":
                other = threading.Thread(target=self.repeated, args=(body,))
                other.start()
            status, content, headers = self.forwarded(body)
            if fault == "twice":
                other.join()
            if fault != "drop_answer":
                self.answer(status, content, headers)

        def repeated(self, body: bytes) -> None:
            """Forward it once more; nobody waits for this answer, nor for a ledger that is away."""
            with suppress(OSError):
                self.forwarded(body)

        def forwarded(self, body: bytes) -> tuple[int, bytes, list[tuple[str, str]]]:
            """The ledger's answer."""
            names = ("Authorization", "Content-Type", "Idempotency-Key")
            sent = {n: self.headers[n] for n in names if self.headers[n] is not None}
            connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
            try:
                connection.request("POST", self.path, body, sent)
                answer = connection.getresponse()
                names = ("Content-Type", "Retry-After", "Idempotent-Replayed")
                kept = [(n, str(answer.getheader(n))) for n in names if answer.getheader(n)]
                return answer.status, answer.read(), kept
            finally:
                connection.close()

    with serving(Handler) as proxy.url:
        yield proxy
