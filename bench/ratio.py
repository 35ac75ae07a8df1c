"""Ratios of alternating samples, and their verdict against a goal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

Verdict = Literal["aim reached", "reached", "MISSED", "not judged"]


@dataclass(frozen=True, slots=True)
class Goal:
    """The required and the desired ratio of ours to the baseline.

    `more`: higher is better (throughput), so the ratio must not be lower; else it must not be
    higher (latency, memory).
    """

    must: float
    aim: float
    more: bool

    def verdict(self, ratio: float) -> Verdict:
        """The verdict on a ratio."""
        if self._meets(ratio, self.aim):
            return "aim reached"
        return "reached" if self._meets(ratio, self.must) else "MISSED"

    def _meets(self, ratio: float, bound: float) -> bool:
        return ratio >= bound if self.more else ratio <= bound


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement, in the unit of its row.

    CPU is in seconds per 1,000 requests: of the serving process and of PostgreSQL during the load,
    and of both together after it, until they were idle again (read models catching up).
    """

    value: float
    requests: int = 0
    p50_ms: float | None = None
    p99_ms: float | None = None
    cpu_service: float | None = None
    cpu_postgres: float | None = None
    cpu_after: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Ours and the baseline, measured one right after the other."""

    ours: Sample
    baseline: Sample

    def of(self, value: Callable[[Sample], float | None]) -> "Pair":
        """The pair with another value of its samples. Raises ValueError where it is missing."""
        found = value(self.ours), value(self.baseline)
        if found[0] is None or found[1] is None:
            raise ValueError("a sample lacks the number that the pair is compared by")
        return Pair(replace(self.ours, value=found[0]), replace(self.baseline, value=found[1]))

    @property
    def ratio(self) -> float:
        """Ours divided by the baseline. Raises ZeroDivisionError for a baseline of 0."""
        return self.ours.value / self.baseline.value


@dataclass(frozen=True, slots=True)
class Spread:
    """The minimum, median and maximum of several values."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of at least one value. Raises ValueError for none."""
        if not values:
            raise ValueError("a spread needs at least one value")
        return cls(min(values), median(values), max(values))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of a row.

    The ratio of a row is the median of the pairs' ratios: both sides of a pair ran under the same
    machine load, while the medians of each side may come from different rounds.
    """

    pairs: Sequence[Pair]
    notes: Sequence[str] = field(default_factory=list)

    @property
    def ours(self) -> Spread:
        """Our values."""
        return Spread.of([pair.ours.value for pair in self.pairs])

    @property
    def baseline(self) -> Spread:
        """The baseline's values."""
        return Spread.of([pair.baseline.value for pair in self.pairs])

    @property
    def ratio(self) -> Spread:
        """The pairs' ratios."""
        return Spread.of([pair.ratio for pair in self.pairs])

    def middle(self, side: Literal["ours", "baseline"], name: str) -> float | None:
        """The median of another value of one side's samples, None where it was not measured."""
        values = [getattr(getattr(pair, side), name) for pair in self.pairs]
        taken = [value for value in values if value is not None]
        return median(taken) if taken else None
