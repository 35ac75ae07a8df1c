"""The baseline for many decisions at once: one hand-written transaction per send, 32 connections.

Lock the customer's row, count the last 24 hours, insert on conflict do nothing, commit. Run with
psycopg (asyncio), like a hand-written service, and with pgbench (C, prepared statements, without a
service), which shows the limit of the database alone.
"""

import asyncio
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable

import psycopg
from psycopg import AsyncConnection

from bench.ratio import Sample
from bench.servers import SQL
from bench.stand import Stand

CONNECTIONS = 32
_FOLDER = SQL / "handwritten"
_GRACE_SECONDS = 30.0


class Handwritten:
    """Sends with hand-written SQL, on the same PostgreSQL with the same durability."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand
        self._conninfo = stand.own_database()
        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            connection.execute((_FOLDER / "schema.sql").read_bytes())

    def by_psycopg(self, _: int) -> Sample:
        """Sends per second of an asyncio program with psycopg."""
        return self._sample(lambda seconds: asyncio.run(_by_psycopg(self._conninfo, seconds)))

    def by_pgbench(self, _: int) -> Sample:
        """Sends per second of pgbench. Raises RuntimeError where it is missing or fails."""
        if shutil.which("pgbench") is None:
            raise RuntimeError("pgbench is not installed (it comes with the server's packages)")
        return self._sample(lambda seconds: _by_pgbench(self._conninfo, seconds))

    def _sample(self, run: Callable[[int], float]) -> Sample:
        seconds = self._stand.pace.seconds
        with self._stand.counted(None, postgres=True) as cost:
            rate = run(seconds)
        return cost.sample(rate, int(rate * seconds))


def _by_pgbench(conninfo: str, seconds: int) -> float:
    """Raises RuntimeError where pgbench fails."""
    command = ["pgbench", "-n", "-M", "prepared", "-c", str(CONNECTIONS), "-j", "2"]
    command += ["-T", str(seconds), "-f", str(_FOLDER / "pgbench.sql"), conninfo]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds + _GRACE_SECONDS
    )
    rate = re.search(r"^tps = ([\d.]+)", ended.stdout, re.MULTILINE)
    if ended.returncode != 0 or rate is None:
        raise RuntimeError(f"pgbench failed: {ended.stderr}")
    return float(rate[1])


async def _by_psycopg(conninfo: str, seconds: float) -> float:
    lock, count, insert = (
        (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
        for name in ("lock", "count", "insert")
    )
    sent = 0

    async def send_until(end: float, connection: AsyncConnection[tuple[int, ...]]) -> None:
        nonlocal sent
        while time.perf_counter() < end:
            values = {"customer": random.randint(1, 100_000), "invoice": random.getrandbits(40)}
            async with connection.transaction():
                await connection.execute(lock.encode(), values)
                cursor = await connection.execute(count.encode(), values)
                row = await cursor.fetchone()
                if row is not None and row[0] < 2:
                    await connection.execute(insert.encode(), values)
            sent += 1

    connections = [
        await AsyncConnection.connect(conninfo, autocommit=True, prepare_threshold=0)
        for _ in range(CONNECTIONS)
    ]
    started = time.perf_counter()
    await asyncio.gather(*[send_until(started + seconds, each) for each in connections])
    rate = sent / (time.perf_counter() - started)
    for connection in connections:
        await connection.close()
    return rate
