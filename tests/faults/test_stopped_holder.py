"""A process stops (SIGSTOP) with the writer lock: others grant again within 20 seconds."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from ledger.store.looking_back.audit import verify
from tests.integration.store.engines import NOON, ask, codes, engine_on, granted, invoice, set_clock

ROOT = Path(__file__).resolve().parents[2]
WAYS = (
    "key revocation",
    "test clock",
    "start-up",
    "recorder",
    "unbounded connection",
    "writer",
)
AGAIN_WITHIN = 20.0


@contextmanager
def stopped_with_the_lock(way: str, database: str) -> Iterator[None]:
    """A process that took the lock and does not run any more; continued and ended afterwards."""
    holder = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.stopped_holder", way, database],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        _, status = os.waitpid(holder.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), f"the process ended: {status}"
        with psycopg.connect(database) as other, pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute("SELECT FROM partitions FOR UPDATE NOWAIT")
        yield
        assert Path(f"/proc/{holder.pid}/stat").read_text().split()[2] == "T"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()


@pytest.mark.parametrize("way", WAYS)
def test_others_grant_again(way: str, database: str) -> None:
    """The lock is really held, by a session of the server whose client says nothing any more."""
    if way == "test clock":
        set_clock(database, NOON)

    async def scenario() -> None:
        async with engine_on(database) as engine:
            due = NOON if way == "test clock" else None
            await engine.submit(invoice("inv", due=due and due.replace(month=11)))
            with stopped_with_the_lock(way, database):
                stopped_at = time.monotonic()
                heard: list[str] = []
                while heard[-1:] != ["granted"]:
                    heard += codes([await engine.submit(ask("inv"))])
                    assert time.monotonic() - stopped_at < AGAIN_WITHIN, heard
            assert set(heard[:-1]) <= {"unavailable"}

    asyncio.run(scenario())
    assert asyncio.run(granted(database)) == ["inv"]
    assert verify(database).ok
