"""Mails through the gates, beside the same relay without one; no row is judged.

`python -m bench --only gates` measures them; `run()` gives the rows.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import aiosmtplib
import httpx

from bench.servers import ROOT, Server, running_ledger, running_postgres, settle

CONNECTIONS = 16
_ROUNDS, _MAILS = 5, 480
"""Rounds that count, and the mails of each side in a round."""
_KEY = "the key of the provider"


@dataclass
class Mails:
    """Mails of one side: seconds in all, and seconds of each."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Mails per second."""
        return len(self.times) / self.seconds


Open = Callable[[int], Awaitable[Callable[[str], Awaitable[None]]]]
"""Opens a connection to a port; what it gives sends one mail, by its name."""


async def run() -> list[dict[str, Any]]:
    """The throughput of each gate as a ratio to that of the relay alone."""
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="ledger-bench-") as text,
        running_postgres(Path(text) / "postgres") as postgres,
        running_ledger(postgres.database("gates"), Path(text) / "ledger") as ledger,
    ):
        for kind, opened in (("smtp", _smtp), ("http", _http)):
            with (
                _told_port([sys.executable, "-m", "bench.relay", kind]) as relay,
                _gate(kind, ledger, relay, Path(text)) as gate,
            ):
                rows.append(await _row(kind, opened, ledger, gate, relay))
    return rows


async def _row(kind: str, opened: Open, ledger: Server, gate: int, relay: int) -> dict[str, Any]:
    ours, theirs, ratios, number = Mails(), Mails(), [], 0
    for round_number in range(-1, _ROUNDS):
        taken: dict[int, Mails] = {}
        for port in (gate, relay) if round_number % 2 else (relay, gate):
            names = [f"{kind}-{n}" for n in range(number, number + _MAILS)]
            number += _MAILS
            settle(ledger.conninfo)
            taken[port] = await _send(opened, port, names)
        if round_number < 0:
            continue
        for side, port in ((ours, gate), (theirs, relay)):
            side.seconds += taken[port].seconds
            side.times += taken[port].times
        ratios.append(taken[gate].per_second / taken[relay].per_second)
    return {
        "what": f"mails through the {kind.upper()} gate, {CONNECTIONS} connections",
        "baseline_is": "the same mails to the relay behind it, which takes everything",
        "unit": "1/s",
        "ours": round(ours.per_second),
        "baseline": round(theirs.per_second),
        "ratio": {
            "min": round(min(ratios), 3),
            "median": round(median(ratios), 3),
            "max": round(max(ratios), 3),
        },
        "p50_ms": round(median(ours.times) * 1000, 1),
        "p99_ms": round(quantiles(ours.times, n=100)[98] * 1000, 1),
        "baseline_p50_ms": round(median(theirs.times) * 1000, 1),
        "must_reach": None,
        "better": "more",
        "verdict": "not judged",
    }


async def _send(opened: Open, port: int, names: list[str]) -> Mails:
    """All mails, over connections that were opened before the time starts."""
    waiting, mails = iter(names), Mails()
    senders = [await opened(port) for _ in range(CONNECTIONS)]

    async def through(send: Callable[[str], Awaitable[None]]) -> None:
        for name in waiting:
            started = time.perf_counter()
            await send(name)
            mails.times.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*map(through, senders))
    mails.seconds = time.perf_counter() - started
    return mails


async def _smtp(port: int) -> Callable[[str], Awaitable[None]]:
    client = aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False)
    await client.connect()

    async def send(name: str) -> None:
        message = EmailMessage()
        message["From"], message["To"] = "shop@example.org", f"{name}@example.com"
        message["Subject"] = name
        message.set_content("It is on its way.\n" * 50)
        await client.send_message(message)

    return send


async def _http(port: int) -> Callable[[str], Awaitable[None]]:
    base = f"http://127.0.0.1:{port}/resend"
    client = httpx.AsyncClient(base_url=base, headers={"Authorization": f"Bearer {_KEY}"})

    async def send(name: str) -> None:
        mail = {
            "from": "shop@example.org",
            "to": f"{name}@example.com",
            "subject": name,
            "text": "It is on its way.\n" * 50,
        }
        answer = await client.post("/emails", json=mail)
        answer.raise_for_status()

    return send


@contextmanager
def _gate(kind: str, ledger: Server, relay: int, folder: Path) -> Iterator[int]:
    """A gate for everybody on this machine; its port."""
    file = folder / f"{kind}.toml"
    file.touch(0o600)
    text = f'ledger = "{ledger.url}"\n[anonymous]\nkey = "{ledger.key}"\n'
    more = ["--upstream", f"127.0.0.1:{relay}"]
    if kind == "http":
        text += f'[upstream]\nurl = {{resend = "http://127.0.0.1:{relay}"}}\n'
        more = []
    file.write_text(text)
    command = [sys.executable, "-m", "api.cli.main", "gate", kind, "--listen", "127.0.0.1:0"]
    with _told_port([*command, "--config", str(file), *more]) as port:
        yield port


@contextmanager
def _told_port(command: list[str]) -> Iterator[int]:
    """A process that prints its port at the end of its first line."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("LEDGER_")},
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().split()[-1])
    finally:
        process.terminate()
        process.communicate(timeout=60)
