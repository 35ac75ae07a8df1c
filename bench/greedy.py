"""`python -m bench.greedy [TREE]`: attacks a service as greedy and hostile callers do.

Each attack runs beside well-behaved callers, and the table says what these heard meanwhile. TREE is
the checkout whose code serves, this one by default. `--busy` adds processes that only count, so
that the attacks meet a loaded machine. Only 127.0.0.1 is called.
"""

import asyncio
import json
import multiprocessing
import resource
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from rich.console import Console
from rich.table import Table

from bench.fill import Client
from bench.machine import resident_bytes
from bench.servers import ROOT, Server
from bench.stand import FULL, open_stand

_SILENT = 1_005
_HEADER_MIB = 128
_HALF_BODIES = 300
_HALF_BODY = 900_000
_BAD_KEYS = 64
_FLOODERS = 16
_PER_BATCH = 1_000
_ASKS = 60
_PAUSES = 6
_PATIENCE = 30.0
_PAUSE = json.dumps({"scope": "outreach", "reason": "an attack", "by": "bench"}).encode()


@dataclass
class Heard:
    """What the callers of one kind heard: statuses (0: the connection broke) and seconds."""

    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def note(self, status: int, seconds: float) -> None:
        """Add one answer."""
        self.statuses.append(status)
        self.seconds.append(seconds)

    def __str__(self) -> str:
        good = sum(200 <= status < 500 and status not in (401, 429) for status in self.statuses)
        others = sorted({s for s in self.statuses if s >= 500 or s in (0, 401, 429)})
        named = f", else {others}" if others else ""
        slowest = max(self.seconds, default=0.0)
        return f"{good} of {len(self.statuses)}{named}; slowest {slowest:.2f} s"


class Target:
    """The service under attack, and the keys that its callers have."""

    def __init__(self, server: Server, asks: int = _ASKS) -> None:
        self.pid = server.pid
        self.asks = asks
        parts = urlsplit(server.url)
        self.host, self.port = parts.hostname or "", parts.port or 0
        self._admin = Client(server.url, server.key)
        self.sender, self.greedy = (self._key("send") for _ in range(2))
        self.operator = self._key("operate")

    def _key(self, scope: str) -> str:
        body = json.dumps({"name": scope, "scopes": [scope]}).encode()
        key: str = json.loads(self._admin.expect(201, "POST", "/v1/keys", body))["key"]
        return key

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection."""
        return await asyncio.open_connection(self.host, self.port)

    async def ask(
        self, method: str, path: str, key: str, body: bytes = b"", heard: Heard | None = None
    ) -> int:
        """One request on a connection of its own; returns the status, 0 where none came."""
        started = time.monotonic()
        status = 0
        writer = None
        try:
            async with asyncio.timeout(_PATIENCE):
                reader, writer = await self.connect()
                writer.write(request(method, path, key, body))
                line = await reader.readline()
                status = int(line.split()[1]) if line else 0
                while await reader.read(65_536):
                    pass
        except (OSError, TimeoutError):
            pass
        finally:
            if writer is not None:
                writer.close()
        if heard is not None:
            heard.note(status, time.monotonic() - started)
        return status


def request(method: str, path: str, key: str, body: bytes) -> bytes:
    """The bytes of a request after which the connection is closed."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


_Attack = Callable[[Target], Coroutine[Any, Any, dict[str, str]]]


async def _asks(target: Target, word: str, every: float = 0.02) -> Heard:
    heard = Heard()
    for number in range(target.asks):
        body = {"kind": "notification", "customer_id": f"{word}-{number}", "event_type": "t"}
        content = json.dumps(body | {"event_id": "1"}).encode()
        await target.ask("POST", "/v1/permits", target.sender, content, heard)
        await asyncio.sleep(every)
    return heard


async def _switches(target: Target) -> Heard:
    """Pause and look, six times: twelve calls that a human makes in need."""
    heard = Heard()
    for _ in range(_PAUSES):
        await target.ask("POST", "/v1/control/pause", target.operator, _PAUSE, heard)
        await target.ask("GET", "/v1/alerts", target.operator, heard=heard)
    return heard


@asynccontextmanager
async def _open_connections(
    target: Target, count: int, first: bytes = b""
) -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    opened = []
    for _ in range(count):
        reader, writer = await target.connect()
        if first:
            writer.write(first)
        opened.append((reader, writer))
    try:
        yield opened
    finally:
        for _, writer in opened:
            writer.close()


@asynccontextmanager
async def _at_once(count: int, work: Callable[[int], Awaitable[None]]) -> AsyncIterator[None]:
    """Run `work` again and again, in so many tasks, for as long as the block lasts."""

    async def again(number: int) -> None:
        while True:
            await work(number)

    tasks = [asyncio.create_task(again(number)) for number in range(count)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _bad_keys(target: Target) -> Callable[[int], Awaitable[None]]:
    async def bad(number: int) -> None:
        await target.ask("GET", "/v1/due", f"slk_no_such_key_{number}_{time.monotonic_ns()}")

    return bad


def _batches(target: Target, heard: Heard) -> Callable[[int], Awaitable[None]]:
    async def flood(number: int) -> None:
        word = f"flood-{number}-{time.monotonic_ns()}"
        asked = [
            {
                "kind": "notification",
                "customer_id": f"{word}-{n}",
                "event_type": "t",
                "event_id": "1",
            }
            for n in range(_PER_BATCH)
        ]
        body = json.dumps({"requests": asked}).encode()
        await target.ask("POST", "/v1/permits/batch", target.greedy, body, heard)

    return flood


async def silent(target: Target) -> dict[str, str]:
    """More silent connections than the service takes."""
    async with _open_connections(target, _SILENT):
        return {
            "asks": str(await _asks(target, "silent")),
            "switches": str(await _switches(target)),
        }


async def headers(target: Target) -> dict[str, str]:
    """A request with headers without end, while others ask."""
    reader, writer = await target.connect()
    answer = asyncio.create_task(reader.readline())
    sent = 0

    async def send() -> None:
        nonlocal sent
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: bench\r\n")
        line = b"X-Long: " + b"x" * 8_000 + b"\r\n"
        with suppress(OSError):
            while sent < _HEADER_MIB * 2**20 and not answer.done():
                writer.write(line * 32)
                await writer.drain()
                sent += len(line) * 32
            writer.write(b"\r\n")

    task = asyncio.create_task(send())
    asks = await _asks(target, "headers")
    await asyncio.wait([answer], timeout=_PATIENCE)
    task.cancel()
    writer.close()
    status = answer.result().decode().strip() if answer.done() else "none"
    return {"asks": str(asks), "accepted": f"{sent / 2**20:.1f} MiB", "answer": status}


async def half_bodies(target: Target) -> dict[str, str]:
    """Bodies of which the last bytes never come, without a known key and with one."""
    found = {}
    for word, key in (("no key", "slk_no_such_key"), ("a key", target.greedy)):
        before = resident_bytes(target.pid)
        head = request("POST", "/v1/permits/batch", key, b"").replace(
            b"Content-Length: 0", b"Content-Length: 1000000"
        )
        async with _open_connections(target, _HALF_BODIES, head + b" " * _HALF_BODY):
            await asyncio.sleep(2)
            found[f"memory ({word})"] = f"+{(resident_bytes(target.pid) - before) / 2**20:.0f} MiB"
            found[f"asks ({word})"] = str(await _asks(target, f"half {word}"))
    return found


async def bad_keys(target: Target) -> dict[str, str]:
    """Connections that ask with keys that nobody made."""
    async with _at_once(_BAD_KEYS * 5, _bad_keys(target)):
        await asyncio.sleep(1)
        return {"switches": str(await _switches(target)), "asks": str(await _asks(target, "bad"))}


async def batches(target: Target) -> dict[str, str]:
    """One key posts the largest batches on 16 connections, another asks for single permits."""
    greedy = Heard()
    async with _at_once(_FLOODERS, _batches(target, greedy)):
        await asyncio.sleep(2)
        asks, switches = await asyncio.gather(_asks(target, "fair", 0.1), _switches(target))
    return {"asks": str(asks), "switches": str(switches), "batches": str(greedy)}


async def everything(target: Target) -> dict[str, str]:
    """Silent connections, bad keys and batches at once."""
    greedy = Heard()
    async with (
        _open_connections(target, _SILENT),
        _at_once(_BAD_KEYS, _bad_keys(target)),
        _at_once(_FLOODERS, _batches(target, greedy)),
    ):
        await asyncio.sleep(2)
        asks, switches = await asyncio.gather(_asks(target, "all", 0.1), _switches(target))
    return {"asks": str(asks), "switches": str(switches), "batches": str(greedy)}


ATTACKS: dict[str, _Attack] = {
    "silent": silent,
    "headers": headers,
    "half-bodies": half_bodies,
    "bad-keys": bad_keys,
    "batches": batches,
    "everything": everything,
}


def _count() -> None:
    while True:
        pass


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that take all the time they get."""
    processes = [multiprocessing.Process(target=_count, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path), default=ROOT)
@click.option("--attack", "names", type=click.Choice(list(ATTACKS)), multiple=True)
@click.option("--busy", type=click.IntRange(0, 64), default=0, help="Processes that only count.")
@click.option("--asks", type=click.IntRange(1, 1_000), default=_ASKS, help="Single requests.")
def main(tree: Path, names: tuple[str, ...], busy: int, asks: int) -> None:
    """Attack the service of TREE, and print what its other callers heard."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("attack", "who or what", "heard"):
        table.add_column(column)
    for name in names or tuple(ATTACKS):
        with open_stand(FULL) as stand, stand.own_ledger(root=tree.resolve()) as server:
            target = Target(server, asks)
            with _busy(busy):
                found = asyncio.run(ATTACKS[name](target))
            for what, heard in found.items():
                table.add_row(name, what, heard)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
