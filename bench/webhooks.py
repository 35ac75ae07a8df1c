"""Bursts of 500 webhooks over 64 connections, against an empty endpoint, and with a full queue.

`python -m bench.webhooks` prints a table; `run()` gives its rows.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

import click
import psycopg
from rich.console import Console
from rich.table import Table

from bench.machine import cpu_seconds, wait_until_quiet
from bench.servers import (
    Postgres,
    Server,
    running_empty,
    running_ledger,
    running_postgres,
    settle,
)
from bench.webhook_bodies import (
    BASIC,
    BURST,
    SECRET,
    recurly_event,
    recurly_event_of_somebody_new,
    stripe_event,
)

CONNECTIONS = 64
MUST_REACH, MOST_P99_MS = 0.35, 5000.0
"""The required ratio to the empty endpoint, and how long Recurly waits for a 2xx."""
_ROUNDS, _BURSTS = 5, 4
_FLOODERS, _PER_CALL = 8, 1000


@dataclass(slots=True)
class Burst:
    """The result of a burst: answers by status, total seconds, and seconds of each request."""

    seconds: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)

    def add(self, other: "Burst") -> None:
        """Add another burst."""
        self.seconds += other.seconds
        self.times += other.times
        for status, count in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + count

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return len(self.times) / self.seconds

    @property
    def p99_ms(self) -> float:
        """The 99th percentile of the response time, in milliseconds."""
        return quantiles(self.times, n=100)[98] * 1000


class _Sender(asyncio.Protocol):
    """One connection that sends the next request as soon as it gets an answer."""

    def __init__(self, waiting: Iterator[bytes], burst: Burst) -> None:
        self._waiting, self._burst = waiting, burst
        self._buffer = b""
        self._sent_at = 0.0
        self._transport: asyncio.WriteTransport | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(RuntimeError("the connection was lost"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._buffer) < end + 4 + length:
            return
        status = int(head[9:12])
        self._burst.times.append(time.perf_counter() - self._sent_at)
        self._burst.statuses[status] = self._burst.statuses.get(status, 0) + 1
        self._buffer = b""
        self.send()

    def send(self) -> None:
        """Send the next request, or end."""
        assert self._transport is not None
        request = next(self._waiting, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(request)


async def send_burst(url: str, requests: Sequence[bytes]) -> Burst:
    """Send the requests over 64 connections that were opened before the time starts."""
    parts, burst, waiting = urlsplit(url), Burst(), iter(requests)
    loop = asyncio.get_running_loop()
    senders = []
    for _ in range(CONNECTIONS):
        _, sender = await loop.create_connection(
            lambda: _Sender(waiting, burst), parts.hostname or "", parts.port or 80
        )
        senders.append(sender)
    started = time.perf_counter()
    for sender in senders:
        sender.send()
    await asyncio.gather(*(sender.done for sender in senders))
    burst.seconds = time.perf_counter() - started
    return burst


async def run() -> list[dict[str, Any]]:
    """Throughput as a ratio to the empty endpoint, and p99 with a full queue."""
    rows = []
    with _servers() as (postgres, ledger, empty):
        for what, make, bound in (
            ("Stripe webhooks, five about each invoice", stripe_event, MUST_REACH),
            ("Recurly webhooks, five about each invoice", recurly_event, MUST_REACH),
            ("Recurly webhooks, each about somebody new", recurly_event_of_somebody_new, None),
        ):
            rest = partial(_rest, postgres, ledger, empty)
            rows.append(await _throughput(what, make, bound, ledger, empty, rest))
        rows.append(await _full_queue(ledger))
    return rows


@contextmanager
def _servers() -> Iterator[tuple[Postgres, Server, Server]]:
    settings = {
        "LEDGER_WEBHOOK_STRIPE_SECRET": SECRET,
        "LEDGER_WEBHOOK_RECURLY_SECRET": BASIC,
    }
    with (
        tempfile.TemporaryDirectory(prefix="ledger-bench-") as text,
        running_postgres(Path(text) / "postgres") as postgres,
        running_ledger(
            postgres.database("bench"), Path(text) / "ledger", settings=settings
        ) as ledger,
        running_empty(Path(text) / "empty", "bench.empty_webhook") as empty,
    ):
        yield postgres, ledger, empty


def _rest(postgres: Postgres, ledger: Server, empty: Server) -> None:
    """Wait until all is idle, so that work left by one side does not slow the other."""
    settle(ledger.conninfo)
    wait_until_quiet({ledger.pid, empty.pid}, postgres.pid)


async def _throughput(
    what: str,
    make: Callable[[int], bytes],
    bound: float | None,
    ledger: Server,
    empty: Server,
    rest: Callable[[], None],
) -> dict[str, Any]:
    """Alternating bursts on both sides, changing the order every round.

    Without a bound there is no verdict.
    """
    number, ratios, by_cpu = 0, [], []
    ours, theirs = Burst(), Burst()
    for round_number in range(-1, _ROUNDS):
        taken: dict[str, tuple[Burst, float]] = {}
        sides = [("ours", ledger), ("theirs", empty)]
        for side, server in sides if round_number % 2 else sides[::-1]:
            first = number
            number += BURST * _BURSTS
            bursts = [
                [make(n) for n in range(start, start + BURST)]
                for start in range(first, number, BURST)
            ]
            rest()
            before = cpu_seconds(server.pid, None).service
            total = Burst()
            for burst in bursts:
                total.add(await send_burst(server.url, burst))
            taken[side] = total, cpu_seconds(server.pid, None).service - before
        if round_number < 0:
            continue
        ours.add(taken["ours"][0])
        theirs.add(taken["theirs"][0])
        ratios.append(taken["ours"][0].per_second / taken["theirs"][0].per_second)
        by_cpu.append(taken["theirs"][1] / max(taken["ours"][1], 1e-9))
    assert set(ours.statuses) == {200}, ours.statuses
    _assert_applied(ledger, number)
    ratio = median(ratios)
    return {
        "what": f"{what}: bursts of {BURST}, {CONNECTIONS} connections",
        "baseline_is": "an empty FastAPI endpoint, same bodies, model and server settings",
        "unit": "1/s",
        "ours": round(ours.per_second),
        "baseline": round(theirs.per_second),
        "ratio": {
            "min": round(min(ratios), 3),
            "median": round(ratio, 3),
            "max": round(max(ratios), 3),
        },
        "cpu_ratio": round(median(by_cpu), 3),
        "p99_ms": round(ours.p99_ms, 1),
        "must_reach": bound,
        "better": "more",
        "verdict": _verdict(ratio, bound),
    }


def _verdict(ratio: float, bound: float | None) -> str:
    if bound is None:
        return "not judged"
    return "reached" if ratio >= bound else "MISSED"


def _assert_applied(ledger: Server, at_least: int) -> None:
    """Check that the log has all events sent to the ledger; half of them went to the baseline."""
    text = "SELECT count(*) FROM names WHERE partition = 0 AND kind = 'fact'"
    with psycopg.connect(ledger.conninfo, autocommit=True) as connection:
        row = connection.execute(text.encode()).fetchone()
    assert row is not None
    assert row[0] >= at_least // 2, (row[0], at_least)


async def _full_queue(ledger: Server) -> dict[str, Any]:
    """Bursts of webhooks while other senders keep the engine's queue full."""
    flood = [asyncio.create_task(_flood(ledger, number)) for number in range(_FLOODERS)]
    await asyncio.sleep(1.0)
    lengths: list[int] = []
    watcher = asyncio.create_task(_watch(ledger, lengths))
    total = Burst()
    for start in range(0, 4 * BURST, BURST):
        first = 10_000_000 + start
        total.add(
            await send_burst(
                ledger.url, [recurly_event_of_somebody_new(n) for n in range(first, first + BURST)]
            )
        )
    for task in (*flood, watcher):
        task.cancel()
    await asyncio.gather(*flood, watcher, return_exceptions=True)
    reached = total.p99_ms <= MOST_P99_MS and set(total.statuses) == {200}
    return {
        "what": f"Recurly webhooks while {_FLOODERS} senders keep the queue full",
        "baseline_is": "Recurly's patience",
        "unit": "ms",
        "p99_ms": round(total.p99_ms, 1),
        "ours": round(total.p99_ms, 1),
        "baseline": MOST_P99_MS,
        "answers": {str(status): count for status, count in sorted(total.statuses.items())},
        "queue_median": round(median(lengths)) if lengths else None,
        "queue_max": max(lengths, default=None),
        "must_reach": MOST_P99_MS,
        "better": "less",
        "verdict": "reached" if reached else "MISSED",
    }


async def _flood(ledger: Server, number: int) -> None:
    """Request batches of permits without end; refused batches are retried."""
    parts = urlsplit(ledger.url)
    count = 0
    while True:
        asked = [
            {
                "kind": "notification",
                "customer_id": f"flood-{number}-{count}-{n}",
                "event_type": "shipped",
                "event_id": "1",
            }
            for n in range(_PER_CALL)
        ]
        count += 1
        body = json.dumps({"requests": asked}).encode()
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = (
            f"POST /v1/permits/batch HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n"
            f"Authorization: Bearer {ledger.key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await reader.read()
        writer.close()


async def _watch(ledger: Server, lengths: list[int]) -> None:
    """Record the queue's length, several times a second."""
    parts = urlsplit(ledger.url)
    while True:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")
        text = (await reader.read()).decode()
        writer.close()
        told = [line for line in text.splitlines() if line.startswith("send_ledger_queue_length ")]
        lengths += [int(float(line.split()[1])) for line in told]
        await asyncio.sleep(0.2)


@click.command()
def main() -> None:
    """Measure and print the table."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("what", "ours", "baseline", "ratio (by CPU)", "p99 ms", "must", "verdict"):
        table.add_column(column, overflow="fold")
    for row in asyncio.run(run()):
        ratio = row.get("ratio")
        table.add_row(
            row["what"],
            f"{row['ours']} {row['unit']}",
            f"{row['baseline']} {row['unit']}",
            f"{ratio['median']} ({row['cpu_ratio']})" if ratio else "",
            str(row["p99_ms"]),
            str(row["must_reach"] or ""),
            row["verdict"],
        )
        if "answers" in row:
            table.add_row(f"  answers {row['answers']}, queue {row['queue_median']} (median)")
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
