"""Measures how the log grows by a poller that tells of the same invoices every minute of a day.

`python -m bench.log_growth` prints events and bytes of a day for 10,000 invoices; a hundred are
told, since each costs the same.
"""

import argparse
import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from psycopg import AsyncConnection

from bench.told_invoices import SECRET, read_sizes, snapshot
from ledger.application.caller import SYSTEM
from ledger.application.clock import stopwatch
from ledger.application.commands import ApplyFact
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.world import Identity
from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate

_NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
_WANTED = 10_000
_MINUTES = 24 * 60
_SQL = Path(__file__).parent / "sql" / "log_growth"


def main() -> None:
    """Tell a day of it, and print what is kept of it."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--invoices", type=int, default=100, help="how many are told each minute")
    invoices: int = asked.parse_args().invoices
    with tempfile.TemporaryDirectory() as folder:
        database = EmbeddedPostgres(Path(folder) / "ledger")
        conninfo = database.start()
        try:
            migrate(conninfo)
            asyncio.run(_a_day(conninfo, invoices))
        finally:
            database.stop()


async def _a_day(conninfo: str, invoices: int) -> None:
    writer = PostgresWriter(conninfo)
    engine = Engine(writer, Policy(), Identity(SECRET, "ledger.example"))
    async with await AsyncConnection.connect(conninfo, autocommit=True) as clock:
        await _set(clock, _NOON)
        await engine.start()
        await _tell(engine, invoices)
        before = await read_sizes(clock, _SQL)
        started = stopwatch()
        for minute in range(1, _MINUTES + 1):
            await _set(clock, _NOON + timedelta(minutes=minute))
            await _tell(engine, invoices)
        seconds = stopwatch() - started
        after = await read_sizes(clock, _SQL)
    await engine.stop()
    await writer.close()
    scale = _WANTED / invoices
    events, log, beside = ((b - a) * scale for a, b in zip(before, after, strict=True))
    print(
        f"{_WANTED} invoices, each told every minute of a day: {events:,.0f} events, "
        f"{log / 1e6:,.0f} MB in the log, {beside / 1e6:,.0f} MB in the look-ups; "
        f"{seconds / (_MINUTES * invoices) * 1e6:.0f} microseconds each"
    )


async def _tell(engine: Engine, invoices: int) -> None:
    commands = [ApplyFact(Fact(snapshot(number), "poller"), SYSTEM) for number in range(invoices)]
    answers = await engine.submit_all(commands)
    assert {answer.result for answer in answers} == {"applied"}


def _statement(name: str) -> bytes:
    return (_SQL / f"{name}.sql").read_bytes()


async def _set(connection: AsyncConnection[tuple[object, ...]], now: datetime) -> None:
    await connection.execute(_statement("set_clock"), {"now": now})


if __name__ == "__main__":
    main()
