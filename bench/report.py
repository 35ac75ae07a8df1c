"""Writes the results as a table for people and as JSON for programs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from bench.ratio import Comparison, Goal, Spread, Verdict
from bench.rows import Row
from bench.stand import Pace

_Side = Literal["ours", "baseline"]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a row, or why it could not be measured."""

    row: Row
    comparison: Comparison | None
    error: str | None
    seconds: float
    load: float
    fsync: float
    quick: bool

    @property
    def verdict(self) -> Verdict | Literal["failed"]:
        """The verdict on the median ratio."""
        if self.comparison is None:
            return "failed"
        goal = self.row.goal
        if goal is None or (self.quick and not self.row.judged_when_quick):
            return "not judged"
        return goal.verdict(self.comparison.ratio.middle)


def as_json(result: Result) -> dict[str, Any]:
    """One row for `results.json`."""
    goal = result.row.goal
    told: dict[str, Any] = {
        "name": result.row.name,
        "what": result.row.what,
        "baseline_is": result.row.baseline,
        "unit": result.row.unit,
        "must_reach": goal.must if goal else None,
        "aim": goal.aim if goal else None,
        "better": "less" if goal and not goal.more else "more",
        "verdict": result.verdict,
        "mode": "quick" if result.quick else "full",
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": result.load,
        "fsync_ms": result.fsync,
        "took_seconds": round(result.seconds, 1),
    }
    comparison = result.comparison
    if comparison is None:
        return told | {"error": result.error}
    return told | {
        "rounds": len(comparison.pairs),
        "ratio": _spread(comparison.ratio),
        "ours": _side(comparison, "ours", comparison.ours),
        "baseline": _side(comparison, "baseline", comparison.baseline),
        "cpu_ratio": cpu_ratio(comparison),
        "notes": list(comparison.notes),
    }


def cpu_ratio(comparison: Comparison) -> float | None:
    """How many requests our process answers in the CPU time that the baseline needs for one.

    On a shared machine this is more reliable than throughput. None where the baseline has no
    serving process.
    """
    ours = comparison.middle("ours", "cpu_service")
    theirs = comparison.middle("baseline", "cpu_service")
    return round(theirs / ours, 3) if ours and theirs else None


def write_json(path: Path, machine: dict[str, object], results: Sequence[dict[str, Any]]) -> None:
    """Write rows to the file; they replace earlier rows with the same names."""
    kept: dict[str, dict[str, Any]] = {}
    if path.exists():
        kept = {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    kept |= {row["name"]: row for row in results}
    text = json.dumps({"machine": machine, "rows": list(kept.values())}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")


def show(console: Console, results: Sequence[Result], pace: Pace) -> None:
    """Print the table of ratios, and the one of CPU time."""
    ratios = _table("what", "ours", "baseline", "ratio (range)", "must", "aim", "verdict")
    costs = _table("CPU s per 1,000", "ours", "PostgreSQL", "after", "baseline", "its PG", "ratio")
    for result in results:
        comparison, goal = result.comparison, result.row.goal
        bounds = (*_bounds(goal), _coloured(result.verdict))
        if comparison is None:
            ratios.add_row(result.row.what, "", "", "", *bounds)
            continue
        ratio = comparison.ratio
        ratios.add_row(
            result.row.what,
            _value(comparison, "ours", result.row.unit),
            _value(comparison, "baseline", result.row.unit),
            f"[bold]{ratio.middle:.2f}[/] ({ratio.low:.2f}–{ratio.high:.2f})",
            *bounds,
        )
        if comparison.middle("ours", "cpu_service") is not None:
            by_cpu = cpu_ratio(comparison)
            costs.add_row(
                result.row.what,
                *[_number(comparison.middle("ours", name)) for name in _COSTS],
                *[_number(comparison.middle("baseline", name)) for name in _COSTS[:2]],
                f"{by_cpu:.2f}" if by_cpu is not None else "",
            )
    console.print(ratios)
    if costs.row_count:
        console.print()
        console.print(costs)
    for result in results:
        for note in result.comparison.notes if result.comparison else (result.error,):
            console.print(f"{result.row.what}: {note}", style="dim", highlight=False)
    console.print(f"{pace.rounds} round(s) of {pace.seconds} s each", style="dim")


def show_told(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Print rows of modules that measure their own, with the columns that they have."""
    table = _table("what", "ours", "baseline", "ratio", "by CPU", "must", "aim", "verdict")
    for row in rows:
        ratio = row.get("ratio")
        table.add_row(
            str(row["what"]),
            f"{row['ours']} {row['unit']}",
            f"{row['baseline']} {row['unit']}",
            f"{ratio['median']:.2f} ({ratio['min']:.2f}–{ratio['max']:.2f})" if ratio else "",
            str(row.get("cpu_ratio", "")),
            str(row["must_reach"] or ""),
            str(row.get("aim", "")),
            _coloured(row["verdict"]),
        )
    console.print()
    console.print(table)


_COSTS = ("cpu_service", "cpu_postgres", "cpu_after")


def _bounds(goal: Goal | None) -> tuple[str, str]:
    if goal is None:
        return "", ""
    sign = "≥" if goal.more else "≤"
    return f"{sign} {goal.must:g}", f"{sign} {goal.aim:g}"


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right", no_wrap=True)
    return table


def _value(comparison: Comparison, side: _Side, unit: str) -> str:
    spread: Spread = getattr(comparison, side)
    shown = f"{spread.middle:,.0f}" if spread.middle >= 100 else f"{spread.middle:.2f}"
    p99 = comparison.middle(side, "p99_ms")
    return f"{shown} {unit}" + (f", p99 {p99:.0f} ms" if p99 is not None else "")


def _number(value: float | None) -> str:
    return f"{value:.3f}" if value is not None else ""


def _spread(spread: Spread) -> dict[str, float]:
    return {
        "min": round(spread.low, 4),
        "median": round(spread.middle, 4),
        "max": round(spread.high, 4),
    }


def _side(comparison: Comparison, side: _Side, spread: Spread) -> dict[str, Any]:
    names = ("p50_ms", "p99_ms", *_COSTS)
    others = {name: comparison.middle(side, name) for name in names}
    return _spread(spread) | {k: round(v, 4) for k, v in others.items() if v is not None}


def _coloured(verdict: str) -> str:
    colour = {"aim reached": "green", "reached": "yellow", "not judged": "dim"}.get(verdict, "red")
    return f"[{colour}]{verdict}[/]"
