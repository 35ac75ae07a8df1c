"""A fake of Recurly's API on the loopback interface: objects by path, and recorded requests."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class RecurlyApi:
    """Answers each path with an object, raw bytes, or a status and headers."""

    url: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """What a GET of this path gets."""
        found = self.answers.get(path, (404, {}))
        if isinstance(found, tuple):
            return found[0], found[1], b"{}"
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        return 200, {"content-type": "application/json"}, body


@contextmanager
def recurly_api() -> Iterator[RecurlyApi]:
    """A server for the length of the block."""
    api = RecurlyApi()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """One look-up."""
            api.asked.append(self.path)
            api.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, headers, body = api.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def invoice(number: str, **changes: Any) -> dict[str, Any]:
    """An invoice as the API (v2021-02-25) gives it, amounts in major units."""
    return {
        "id": f"id-{number}",
        "object": "invoice",
        "uuid": f"uuid-{number}",
        "type": "charge",
        "number": number,
        "state": "pending",
        "currency": "USD",
        "total": 100.1,
        "balance": 100.1,
        "account": {"code": f"acc-{number}", "email": f"pat.{number}@example.com"},
        "created_at": "2022-07-26T22:03:39Z",
        "updated_at": "2022-07-26T22:03:39Z",
        "due_at": "2022-08-25T22:03:39Z",
    } | changes
