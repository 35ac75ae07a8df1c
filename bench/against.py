"""`python -m bench.against TREE`: compares this checkout's speed with another checkout's.

The services of both trees use databases of one PostgreSQL. They are loaded alternately for a second
each, and the order changes every round. A slow phase of the machine then affects both sides of a
pair, so the median of the pairs' ratios is more exact than runs that are minutes apart. The
CPU time a request, of the service and of PostgreSQL, depends less on what else the machine does.
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
from bench.machine import Spent, cpu_seconds, wait_until_quiet
from bench.permit_rows import REMINDER
from bench.servers import ROOT, Server
from bench.stand import FULL, Stand, open_stand

_Loaded = Callable[[Stand, Server, int, int], tuple[float, int]]


def _permits(stand: Stand, server: Server, first: int, count: int) -> tuple[float, int]:
    load = run_load(server.url, server.key, Stream((REMINDER,), first), 64, 1)
    _assert_enough(load.requests, count)
    return load.per_second, load.requests


def _latency(stand: Stand, server: Server, first: int, count: int) -> tuple[float, int]:
    load = run_load(server.url, server.key, Stream((REMINDER,), first), 1, 1)
    _assert_enough(load.requests, count)
    return load.p50_ms, load.requests


def _batch(stand: Stand, server: Server, first: int, count: int) -> tuple[float, int]:
    return decide_batches(stand, server, first, count).value, count


def _claim(stand: Stand, server: Server, first: int, count: int) -> tuple[float, int]:
    return claim_all(stand, server, count).value, count


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
"""The load function of each row, how many invoices it gets per round, and its value's unit.

It gives the value and how many requests that took.
"""


@click.command()
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--row", "names", type=click.Choice(list(_ROWS)), multiple=True, help="Only these.")
@click.option("--rounds", type=click.IntRange(1, 50), default=12, show_default=True)
def main(tree: Path, names: tuple[str, ...], rounds: int) -> None:
    """Load this tree's service and that of TREE in turn, and print the ratio of this to that."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("row", "this tree", "the other", "ratio", "range", "unit", "CPU", "PG CPU"):
        table.add_column(column)
    with open_stand(FULL) as stand, ExitStack() as stack:
        sides = [
            stack.enter_context(stand.own_ledger(root=root)) for root in (ROOT, tree.resolve())
        ]
        for name in names or tuple(_ROWS):
            load, count, unit = _ROWS[name]
            values: tuple[list[float], list[float]] = ([], [])
            costs: tuple[list[Spent], list[Spent]] = ([], [])
            for number in range(rounds):
                for side in (0, 1) if number % 2 else (1, 0):
                    first = stand.numbers(count)
                    server = sides[side]
                    Teller(server.url, server.key).invoices(first, count)
                    wait_until_quiet([each.pid for each in sides], stand.postgres.pid)
                    before = cpu_seconds(server.pid, stand.postgres.pid)
                    value, requests = load(stand, server, first, count)
                    spent = cpu_seconds(server.pid, stand.postgres.pid).since(before)
                    values[side].append(value)
                    costs[side].append(Spent(spent.service / requests, spent.postgres / requests))
            ratios = [ours / theirs for ours, theirs in zip(*values, strict=True)]
            table.add_row(
                name,
                *(f"{median(side):,.2f}" for side in values),
                f"{median(ratios):.2f}",
                f"{min(ratios):.2f}–{max(ratios):.2f}",
                unit,
                f"{_median_ratio(costs, lambda each: each.service):.2f}",
                f"{_median_ratio(costs, lambda each: each.postgres):.2f}",
            )
    Console(width=100).print(table)


def _median_ratio(costs: tuple[list[Spent], list[Spent]], part: Callable[[Spent], float]) -> float:
    """The CPU time a request of this tree, as a share of the other's; below 1 is cheaper."""
    return median(part(ours) / part(theirs) for ours, theirs in zip(*costs, strict=True))


if __name__ == "__main__":
    main()
