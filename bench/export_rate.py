"""Measures how fast an export is, table by table and format by format, and the memory it takes.

`python -m bench.export_rate --sends 100000` makes a ledger with so many sends (an invoice, a
permit, a denial, a redeem and a report each), exports it, and verifies the exports. Each export is
a process of its own; rows per second of its processor time are what it can do at most.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from psycopg import AsyncConnection

from api.exports.exporting import Wanted, export
from api.exports.verifying import verify_export
from bench.told_invoices import snapshot
from bench.told_sends import IDENTITY, ask, redeem, take
from ledger.application.caller import SYSTEM
from ledger.application.commands import ApplyFact, ReportOutcome
from ledger.application.engine import Engine
from ledger.application.facts.fact import Fact
from ledger.domain.policy import Policy
from ledger.store.embedded.server import EmbeddedPostgres
from ledger.store.log.writer import PostgresWriter
from ledger.store.migrate import migrate
from projections.projector import Projector
from projections.schema import prepare

_NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
_CLOCK = Path(__file__).parent / "sql" / "bytes_per_send" / "set_clock.sql"
_TABLES = ("events", "decisions", "denials", "sends", "invoices", "stages")
_FORMATS = ("parquet", "csv", "jsonl")


def main() -> None:
    """Make the ledger and print a line for each table of the first format, then for all tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sends", type=int, default=100_000)
    asked.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.one:
        print(json.dumps(_measured(*given.one)))
        return
    with tempfile.TemporaryDirectory() as folder:
        database = EmbeddedPostgres(Path(folder) / "ledger")
        conninfo = database.start()
        try:
            migrate(conninfo)
            asyncio.run(_fill(conninfo, given.sends))
            print(f"{'what':22}{'rows':>10}{'rows/s':>10}{'per s of CPU':>14}{'MiB':>6}")
            for table in _TABLES:
                _print(conninfo, folder, table, "parquet")
            for format in _FORMATS:
                _print(conninfo, folder, "all", format)
            for format in _FORMATS:
                _print(conninfo, folder, "verify", format)
        finally:
            database.stop()


async def _fill(conninfo: str, sends: int) -> None:
    """A ledger with so many sends, its read models caught up."""
    await prepare(conninfo, Policy())
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await connection.execute(_CLOCK.read_bytes(), {"now": _NOON})
    writer = PostgresWriter(conninfo)
    engine = Engine(writer, Policy(), IDENTITY)
    await engine.start()
    numbers = range(sends)
    await take(engine, [ApplyFact(Fact(snapshot(n), "billing"), SYSTEM) for n in numbers])
    permits = [answer.permit_id or "" for answer in await take(engine, [ask(n) for n in numbers])]
    await take(engine, [ask(n) for n in numbers])
    await take(engine, [redeem(permit) for permit in permits])
    await take(engine, [ReportOutcome(p, "sent", SYSTEM, "resend", f"re_{p}") for p in permits])
    await engine.stop()
    await writer.close()
    projector = Projector(conninfo)
    await projector.start()
    while projector.head == 0 or projector.position < projector.head:
        await projector.wait_for(projector.head or 1, 600.0)
    await projector.stop()


def _print(conninfo: str, folder: str, what: str, format: str) -> None:
    command = [sys.executable, "-m", "bench.export_rate", "--one", conninfo, folder, what, format]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    rows, seconds, used, memory = found
    name = f"{what}, {format}"
    print(
        f"{name:22}{rows:10,}{rows / seconds:10,.0f}{rows / used:14,.0f}{memory:6.0f}", flush=True
    )


def _measured(
    conninfo: str, folder: str, what: str, format: str
) -> tuple[int, float, float, float]:
    """Rows, seconds, processor seconds of this process, and its peak of resident memory in MiB."""
    url = f"{folder}/{'all' if what == 'verify' else what}-{format}"
    before, used = perf_counter(), _processor_time()
    if what == "verify":
        proof = verify_export(url, conninfo)
        assert proof.ok, proof.problems
        rows = proof.events
    else:
        every = Wanted().tables if what == "all" else (what,)
        rows = export(conninfo, url, Wanted(format, every, settle=0.0)).rows
    seconds, used = perf_counter() - before, _processor_time() - used
    return rows, seconds, used, _peak_memory()


def _processor_time() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


def _peak_memory() -> float:
    """Of this program alone: what `getrusage` says begins with the memory of the parent."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
