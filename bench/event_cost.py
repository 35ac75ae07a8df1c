"""Measures the cost of one more event per permit: batches with two and three events (ADR 0001)."""

import asyncio
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID, uuid4

from ledger.application.clock import stopwatch
from ledger.application.ports import Batch
from ledger.domain.invoice import Invoice
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate

PERMITS, BATCHES, ROUNDS = 64, 60, 3


def main() -> None:
    """Print the median microseconds per permit of both, measured alternately."""
    with tempfile.TemporaryDirectory() as folder:
        database = EmbeddedPostgres(Path(folder) / "ledger")
        conninfo = database.start()
        try:
            migrate(conninfo)
            asyncio.run(_compare(conninfo))
        finally:
            database.stop()


async def _compare(conninfo: str) -> None:
    writer = PostgresWriter(conninfo)
    taken: dict[int, list[float]] = {2: [], 3: []}
    for _ in range(ROUNDS):
        for events, times in taken.items():
            times.append(await _seconds(writer, events) / (PERMITS * BATCHES) * 1e6)
    await writer.close()
    two, three = (median(taken[events]) for events in (2, 3))
    print(
        f"microseconds per permit: {two:.0f} with 2 events, {three:.0f} with 3: {three / two:.2f}"
    )


async def _seconds(writer: PostgresWriter, events: int) -> float:
    started = stopwatch()
    for _ in range(BATCHES):
        batch = Batch(await writer.begin())
        make = _maker(batch)
        for _ in range(PERMITS):
            id_ = uuid4()
            for version in range(1, events + 1):
                batch.events.append(make(id_, version))
        await writer.write(batch)
    return stopwatch() - started


def _maker(batch: Batch) -> Callable[[UUID, int], Any]:
    event: Any = Invoice.ReminderPermitted

    def make(originator_id: UUID, version: int) -> Any:
        return event(
            originator_id=originator_id,
            originator_version=version,
            timestamp=batch.head.now,
            permit_id="00000000-0000-4000-8000-000000000000",
            sender="poller",
            cycle=1,
            stage="day-7",
            supersedes=("day-3",),
            crossed={"day-3": date(2026, 12, 4), "day-7": date(2026, 12, 8)},
        )

    return make


if __name__ == "__main__":
    main()
