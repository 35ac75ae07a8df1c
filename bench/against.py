"""`python -m bench.against TREE`: compares this checkout's speed with another checkout's.

The services of both trees use databases of one PostgreSQL. They are loaded alternately for a second
each, and the order changes every round. A slow phase of the machine then affects both sides of a
pair, so the median of the pairs' ratios is more exact than runs that are minutes apart.
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import click
from rich.console import Console
from rich.table import Table

from bench.bulk_rows import claim_all, decide_batches
from bench.fill import Teller
from bench.load import Stream, run_load
from bench.permit_rows import REMINDER
from bench.servers import ROOT, Server
from bench.stand import FULL, Stand, open_stand

_Loaded = Callable[[Stand, Server, int, int], float]


def _permits(stand: Stand, server: Server, first: int, count: int) -> float:
    load = run_load(server.url, server.key, Stream((REMINDER,), first), 64, 1)
    _assert_enough(load.requests, count)
    return load.per_second


def _latency(stand: Stand, server: Server, first: int, count: int) -> float:
    load = run_load(server.url, server.key, Stream((REMINDER,), first), 1, 1)
    _assert_enough(load.requests, count)
    return load.p50_ms


def _batch(stand: Stand, server: Server, first: int, count: int) -> float:
    return decide_batches(stand, server, first, count).value


def _claim(stand: Stand, server: Server, first: int, count: int) -> float:
    return claim_all(stand, server, count).value


def _assert_enough(asked: int, told: int) -> None:
    """Check that there are enough invoices: a request for an unknown one is a cheap denial."""
    if asked > told:
        raise RuntimeError(f"{asked} requests for {told} invoices")


_ROWS: dict[str, tuple[_Loaded, int, str]] = {
    "permits": (_permits, 8_000, "1/s"),
    "latency": (_latency, 2_500, "ms, p50"),
    "batch": (_batch, 6_000, "1/s"),
    "claim": (_claim, 5_000, "1/s"),
}
"""The load function of each row, how many invoices it gets per round, and its value's unit."""


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--row", "names", type=click.Choice(list(_ROWS)), multiple=True, help="Only these.")
@click.option("--rounds", type=click.IntRange(1, 50), default=12, show_default=True)
def main(tree: Path, names: tuple[str, ...], rounds: int) -> None:
    """Load this tree's service and that of TREE in turn, and print the ratio of this to that."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("row", "this tree", "the other", "ratio", "range", "unit"):
        table.add_column(column)
    with open_stand(FULL) as stand, ExitStack() as stack:
        sides = [
            stack.enter_context(stand.own_ledger(root=root)) for root in (ROOT, tree.resolve())
        ]
        for name in names or tuple(_ROWS):
            load, count, unit = _ROWS[name]
            values: tuple[list[float], list[float]] = ([], [])
            for number in range(rounds):
                for side in (0, 1) if number % 2 else (1, 0):
                    first = stand.numbers(count)
                    server = sides[side]
                    Teller(server.url, server.key).invoices(first, count)
                    values[side].append(load(stand, server, first, count))
            ratios = [ours / theirs for ours, theirs in zip(*values, strict=True)]
            table.add_row(
                name,
                *(f"{median(side):,.2f}" for side in values),
                f"{median(ratios):.2f}",
                f"{min(ratios):.2f}–{max(ratios):.2f}",
                unit,
            )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
