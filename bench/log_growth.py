"""Measures how the log grows by a poller that tells of the same invoices every minute of a day.

`python -m bench.log_growth` prints events and bytes of a day for 10,000 invoices; a hundred are
told, since each costs the same.
"""

import argparse
import asyncio
import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from psycopg import AsyncConnection

from ledger.application.caller import SYSTEM
from ledger.application.clock import stopwatch
from ledger.application.commands import ApplyFact
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.application.facts.invoice_observed import InvoiceObserved
from ledger.application.world import Identity
from ledger.domain.balance import Status
from ledger.domain.identity import Address, fingerprint
from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate

_SECRET = b"0123456789abcdef0123456789abcdef"
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
    engine = Engine(writer, Policy(), Identity(_SECRET, "ledger.example"))
    async with await AsyncConnection.connect(conninfo, autocommit=True) as clock:
        await _set(clock, _NOON)
        await engine.start()
        await _tell(engine, invoices)
        before = await _sizes(clock)
        started = stopwatch()
        for minute in range(1, _MINUTES + 1):
            await _set(clock, _NOON + timedelta(minutes=minute))
            await _tell(engine, invoices)
        seconds = stopwatch() - started
        after = await _sizes(clock)
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
    commands = [ApplyFact(Fact(_snapshot(number), "poller"), SYSTEM) for number in range(invoices)]
    answers = await engine.submit_all(commands)
    assert {answer.result for answer in answers} == {"applied"}


def _snapshot(number: int) -> InvoiceObserved:
    text = f"c{number}@example.com"
    return InvoiceObserved(
        invoice_id=f"inv_{number}",
        customer_id=f"cus_{number}",
        currency="EUR",
        total=30_000,
        amount_remaining=30_000,
        status=Status.OPEN,
        email=Address(text, fingerprint(_SECRET, text)),
        due_on=date(2026, 11, 28),
    )


def _statement(name: str) -> bytes:
    return (_SQL / f"{name}.sql").read_bytes()


async def _set(connection: AsyncConnection[tuple[object, ...]], now: datetime) -> None:
    await connection.execute(_statement("set_clock"), {"now": now})


async def _sizes(connection: AsyncConnection[tuple[object, ...]]) -> tuple[int, ...]:
    row = await (await connection.execute(_statement("sizes"))).fetchone()
    assert row is not None
    return tuple(int(str(value)) for value in row)


if __name__ == "__main__":
    main()
