"""Generates load on one HTTP endpoint: with wrk if installed, else with an asyncio client."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

_SCRIPT = Path(__file__).parent / "requests.lua"
_GRACE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Stream:
    """Requests to send: the templates in turn, with `{n}` counted up from `first` once per turn.

    With `wrap` the count starts again after that many. `idempotency` gives each request its own
    Idempotency-Key. The path of each request has the next of the `ids` in place of `{id}`.
    """

    templates: tuple[str, ...]
    first: int = 1
    wrap: int = 0
    path: str = "/v1/permits"
    idempotency: bool = False
    ids: tuple[str, ...] = ()

    def path_of(self, sent: int) -> str:
        """The path of the request after `sent` others."""
        if not self.ids:
            return self.path
        return self.path.replace("{id}", self.ids[sent % len(self.ids)])

    def body(self, sent: int) -> bytes:
        """The body of the request after `sent` others."""
        n = sent // len(self.templates)
        if self.wrap:
            n %= self.wrap
        return (
            self.templates[sent % len(self.templates)].replace("{n}", str(self.first + n)).encode()
        )


@dataclass(frozen=True, slots=True)
class Load:
    """The result of a load; `refused` counts statuses from 400, `broken` lost connections."""

    requests: int
    seconds: float
    refused: int
    broken: int
    p50_ms: float
    p99_ms: float

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return self.requests / self.seconds


def wrk() -> str | None:
    """The path of wrk, None where it is not installed."""
    return shutil.which("wrk")


def run_load(url: str, key: str, stream: Stream, connections: int, seconds: int) -> Load:
    """Send the stream over these connections; each sends its next request after an answer.

    Raises RuntimeError where the load generator fails.
    """
    program = wrk()
    if program is None:
        return asyncio.run(_plain_load(url, key, stream, connections, seconds))
    environment = {
        **os.environ,
        "BENCH_TEMPLATES": "\n".join(stream.templates),
        "BENCH_FIRST": str(stream.first),
        "BENCH_WRAP": str(stream.wrap),
        "BENCH_PATH": stream.path,
        "BENCH_IDEMPOTENCY": "1" if stream.idempotency else "0",
        "BENCH_KEY": key,
    }
    with tempfile.NamedTemporaryFile("w", suffix=".ids") as ids:
        ids.write("\n".join(stream.ids))
        ids.flush()
        environment["BENCH_IDS"] = ids.name if stream.ids else ""
        return _by_wrk(program, environment, url, connections, seconds)


def _by_wrk(
    program: str, environment: dict[str, str], url: str, connections: int, seconds: int
) -> Load:
    command = [program, "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(_SCRIPT), url]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=seconds + _GRACE_SECONDS
    )
    lines = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    if ended.returncode != 0 or not lines:
        raise RuntimeError(f"wrk failed: {ended.stderr or ended.stdout}")
    found = json.loads(lines[-1].removeprefix("RESULT "))
    return Load(
        found["requests"],
        found["microseconds"] / 1e6,
        found["refused"],
        found["broken"],
        found["p50"] / 1000,
        found["p99"] / 1000,
    )


class _Client(asyncio.Protocol):
    """One connection that sends its next request as soon as it gets an answer."""

    def __init__(self, ask: "_Asking") -> None:
        self._ask = ask
        self._buffer = b""
        self._missing = -1
        self._sent_at = 0.0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ask.over:
            self._ask.broken += 1

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._buffer) < end + 4 + length:
            return
        self._ask.answered(int(head[9:12]), time.perf_counter() - self._sent_at)
        self._buffer = b""
        self._send()

    def _send(self) -> None:
        assert self._transport is not None
        if self._ask.over:
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(self._ask.next_request())


class _Asking:
    """The state that the connections of one asyncio load share."""

    def __init__(self, host: str, key: str, stream: Stream) -> None:
        self.over = False
        self.refused = self.broken = 0
        self.times: list[float] = []
        self._sent = 0
        self._stream = stream
        self._head = (
            f"HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\n"
        ).encode()

    def next_request(self) -> bytes:
        """The bytes of the next request of the stream."""
        body, path = self._stream.body(self._sent), self._stream.path_of(self._sent).encode()
        self._sent += 1
        extra = b""
        if self._stream.idempotency:
            extra = b"Idempotency-Key: bench-%d-%d\r\n" % (self._stream.first, self._sent)
        head = b"POST %b %b%bContent-Length: %d" % (path, self._head, extra, len(body))
        return b"%b\r\n\r\n%b" % (head, body)

    def answered(self, status: int, seconds: float) -> None:
        """Count one answer."""
        self.times.append(seconds)
        self.refused += status >= 400


async def _plain_load(url: str, key: str, stream: Stream, connections: int, seconds: int) -> Load:
    parts = urlsplit(url)
    asking = _Asking(parts.netloc, key, stream)
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(
            lambda: _Client(asking), parts.hostname or "", parts.port or 80
        )
    await asyncio.sleep(seconds)
    asking.over = True
    spent = time.perf_counter() - started
    await asyncio.sleep(0.1)
    if len(asking.times) < 2:
        raise RuntimeError("the server did not answer the load")
    cuts = quantiles(asking.times, n=100)
    requests = len(asking.times)
    return Load(requests, spent, asking.refused, asking.broken, cuts[49] * 1000, cuts[98] * 1000)
