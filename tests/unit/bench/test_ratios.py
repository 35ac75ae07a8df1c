"""The harness of the benchmarks: ratios are computed right, every row has a baseline."""

import json
from pathlib import Path

import pytest

from bench.load import Stream
from bench.ratio import Comparison, Goal, Pair, Sample, Spread
from bench.report import Result, as_json, cpu_ratio, write_json
from bench.rows import ROWS, Row

THROUGHPUT = Goal(must=0.5, aim=0.75, more=True)
LATENCY = Goal(must=6.0, aim=4.0, more=False)


def pairs(*values: tuple[float, float]) -> Comparison:
    return Comparison([Pair(Sample(ours), Sample(theirs)) for ours, theirs in values])


def result(comparison: Comparison | None, *, quick: bool = False, judged: bool = True) -> Result:
    row = Row("r", "a row", "another", "1/s", THROUGHPUT, lambda _: pairs((1, 1)), judged)
    error = None if comparison else "it broke"
    return Result(row, comparison, error, 1.0, 0.5, 0.1, quick)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(0.49, "MISSED"), (0.5, "reached"), (0.74, "reached"), (0.75, "aim reached")],
)
def test_throughput_must_not_be_lower(ratio: float, verdict: str) -> None:
    assert THROUGHPUT.verdict(ratio) == verdict


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(6.1, "MISSED"), (6.0, "reached"), (4.1, "reached"), (4.0, "aim reached")],
)
def test_latency_must_not_be_higher(ratio: float, verdict: str) -> None:
    assert LATENCY.verdict(ratio) == verdict


def test_the_ratio_is_the_median_of_the_pairs_own() -> None:
    """Not the ratio of the medians, which is 100 / 200 here: no pair saw that."""
    comparison = pairs((100, 100), (10, 200), (1000, 250))
    assert comparison.ratio == Spread(0.05, 1.0, 4.0)
    assert comparison.ours == Spread(10, 100, 1000)
    assert comparison.baseline == Spread(100, 200, 250)


def test_a_spread_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Spread.of([])


def test_a_pair_by_another_number() -> None:
    pair = Pair(Sample(900, p50_ms=3.0), Sample(5000, p50_ms=1.5))
    assert pair.of(lambda sample: sample.p50_ms).ratio == 2.0
    with pytest.raises(ValueError, match="lacks"):
        pair.of(lambda sample: sample.p99_ms)


def test_the_ratio_of_cpu_time_is_the_baselines_to_ours() -> None:
    ours, theirs = Sample(1, cpu_service=0.2), Sample(1, cpu_service=0.15)
    assert cpu_ratio(Comparison([Pair(ours, theirs)])) == 0.75
    assert cpu_ratio(Comparison([Pair(ours, Sample(1))])) is None


def test_a_row_that_could_not_be_measured_has_failed() -> None:
    assert result(None).verdict == "failed"
    assert as_json(result(None))["error"] == "it broke"


def test_a_quick_run_judges_no_row_of_another_size() -> None:
    poor = pairs((1, 10))
    assert result(poor, quick=True, judged=False).verdict == "not judged"
    assert result(poor, quick=True).verdict == "MISSED"
    assert result(poor, judged=False).verdict == "MISSED"


def test_rows_replace_earlier_ones_of_their_name(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_json(path, {"cores": 2}, [{"name": "a", "ratio": 1}, {"name": "b", "ratio": 2}])
    write_json(path, {"cores": 4}, [{"name": "b", "ratio": 3}])
    assert json.loads(path.read_text()) == {
        "machine": {"cores": 4},
        "rows": [{"name": "a", "ratio": 1}, {"name": "b", "ratio": 3}],
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_has_a_baseline_and_a_goal_that_makes_sense(row: Row) -> None:
    assert row.baseline
    assert row.what != row.baseline
    goal = row.goal
    if goal is not None:
        assert (goal.aim >= goal.must) if goal.more else (goal.aim <= goal.must)
        assert goal.must > 0


def test_the_rows_that_are_judged() -> None:
    assert {row.name for row in ROWS if row.goal is not None} == {
        "permits",
        "latency",
        "batch",
        "claim",
        "denials",
        "due",
        "due-last",
        "history",
        "history-cold",
        "memory",
        "outcome",
        "redeem",
    }


def test_rows_are_told_apart_by_name() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)


def test_a_stream_takes_its_templates_in_turn() -> None:
    stream = Stream(("a{n}", "b{n}"), first=5, wrap=2)
    assert [stream.body(sent) for sent in range(6)] == [b"a5", b"b5", b"a6", b"b6", b"a5", b"b5"]
