"""Measures what one send costs on the disk: a fact, a permit, a redeem, a report, a denial.

`python -m bench.bytes_per_send` prints, for each step, the bytes that it adds to the log, to the
decision log, to the look-ups beside them and to the WAL. Read models are not in it.
"""

import argparse
import asyncio
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from psycopg import AsyncConnection

from bench.told_invoices import Sizes, read_sizes, snapshot
from bench.told_sends import IDENTITY, ask, redeem, take
from ledger.application.caller import SYSTEM
from ledger.application.commands import (
    ApplyFact,
    ReportOutcome,
)
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate

_NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
_SQL = Path(__file__).parent / "sql" / "bytes_per_send"


def main() -> None:
    """Take each step for so many invoices, one customer each, and print bytes per send."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sends", type=int, default=10_000)
    sends: int = asked.parse_args().sends
    with tempfile.TemporaryDirectory() as folder:
        database = EmbeddedPostgres(Path(folder) / "ledger")
        conninfo = database.start()
        try:
            migrate(conninfo)
            asyncio.run(_measure(conninfo, sends))
        finally:
            database.stop()


async def _measure(conninfo: str, sends: int) -> None:
    writer = PostgresWriter(conninfo)
    engine = Engine(writer, Policy(), IDENTITY)
    await engine.start()
    numbers = range(sends)
    print(f"{'step':10}{'log':>8}{'decisions':>11}{'look-ups':>10}{'all':>8}{'WAL':>8}")
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await connection.execute(_statement("set_clock"), {"now": _NOON})
        before = await read_sizes(connection, _SQL)
        await take(engine, [ApplyFact(Fact(snapshot(n), "billing"), SYSTEM) for n in numbers])
        before = await _print("invoice", connection, before, sends)
        answers = await take(engine, [ask(n) for n in numbers])
        before = await _print("permit", connection, before, sends)
        permits = [answer.permit_id or "" for answer in answers]
        redeemed = await take(engine, [redeem(permit) for permit in permits])
        assert {answer.status for answer in redeemed} == {200}
        before = await _print("redeem", connection, before, sends)
        await take(engine, [ReportOutcome(p, "sent", SYSTEM, "resend", f"re_{p}") for p in permits])
        before = await _print("report", connection, before, sends)
        denied = await take(engine, [ask(n) for n in numbers])
        assert {answer.status for answer in denied} == {409}
        await _print("denial", connection, before, sends)
    await engine.stop()
    await writer.close()


def _statement(name: str) -> bytes:
    return (_SQL / f"{name}.sql").read_bytes()


async def _print(
    step: str, connection: AsyncConnection[tuple[object, ...]], before: Sizes, sends: int
) -> Sizes:
    after = await read_sizes(connection, _SQL)
    log, decisions, beside, wal = ((a - b) / sends for a, b in zip(after, before, strict=True))
    print(
        f"{step:10}{log:8,.0f}{decisions:11,.0f}{beside:10,.0f}{log + decisions + beside:8,.0f}"
        f"{wal:8,.0f}"
    )
    return after


if __name__ == "__main__":
    main()
