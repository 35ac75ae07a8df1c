"""`python -m bench`: measures all rows, prints the ratios, and writes bench/results.json."""

import asyncio
import importlib
import importlib.util
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bench.load import wrk
from bench.machine import description, fsync_ms, load_average
from bench.report import Result, as_json, show, show_told, write_json
from bench.rows import ROWS, Row
from bench.stand import FULL, QUICK, Stand, open_stand

RESULTS = Path(__file__).parent / "results.json"
_OTHERS = tuple(name for name in ("webhooks", "gates") if importlib.util.find_spec(f"bench.{name}"))
"""Modules that measure their own rows; each has `async def run() -> list[dict]`."""
_NAMES = tuple(row.name for row in ROWS)
_PLAIN_WIDTH = 150
_console = Console()
if not _console.is_terminal:
    _console.width = _PLAIN_WIDTH


@click.command()
@click.option("--quick", is_flag=True, help="One short round of each row, in about a minute.")
@click.option("--only", "names", multiple=True, type=click.Choice([*_NAMES, *_OTHERS]))
@click.option("--out", type=click.Path(path_type=Path), help="Where to write the JSON.")
def main(quick: bool, names: tuple[str, ...], out: Path | None) -> None:
    """Measure the ledger against baselines on this machine.

    A full run writes bench/results.json; a quick one writes only where --out says.
    """
    pace = QUICK if quick else FULL
    rows = [row for row in ROWS if not names or row.name in names]
    if wrk() is None:
        _console.print(
            "wrk is not installed (apt-get install wrk): a Python client makes the load; it costs "
            "both sides of a pair as much, so ratios come out nearer to 1.",
            style="yellow",
        )
    results: list[Result] = []
    if rows:
        with open_stand(pace) as stand:
            results = [_measure(row, stand) for row in rows if not stand.time_is_up]
        show(_console, results, pace)
        left_out = [row.name for row in rows[len(results) :]]
        if left_out:
            _console.print(f"not measured, as time was up: {', '.join(left_out)}", style="yellow")
    told = [as_json(result) for result in results]
    for name in _OTHERS:
        if name in names or not (names or quick):
            told += _run_other(name)
    path = out or (None if quick else RESULTS)
    if path is not None:
        write_json(path, description(), told)


def _run_other(name: str) -> list[dict[str, Any]]:
    """The rows of a module that measures its own rows."""
    rows: list[dict[str, Any]] = asyncio.run(importlib.import_module(f"bench.{name}").run())
    show_told(_console, rows)
    return [{"name": f"{name}-{number}", **row} for number, row in enumerate(rows, 1)]


def _measure(row: Row, stand: Stand) -> Result:
    """Measure one row; a failure is a result, so that the other rows are still measured."""
    comparison = error = None
    load, fsync = load_average(), fsync_ms()
    started = time.monotonic()
    with _console.status(f"measuring {row.what}"):
        try:
            comparison = row.measure(stand)
        except (OSError, RuntimeError) as failure:
            error = str(failure)
    took = time.monotonic() - started
    result = Result(row, comparison, error, took, load, fsync, stand.pace.quick)
    outcome = f"{comparison.ratio.middle:.2f}" if comparison is not None else error
    _console.print(
        f"{row.name}: {outcome} (took {took:.0f} s, load average {load}, fsync {fsync} ms)",
        style="dim",
    )
    return result


if __name__ == "__main__":
    main()
