"""How long requests take, by route: histograms in memory, for metrics."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets, in seconds; what is slower has one more."""
_METHODS = frozenset({"GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"})
_MOST_ROUTES = 200
NO_ROUTE = "none"
"""The route of a request that no route takes."""


class Histogram:
    """Counts of durations, and their sum in seconds."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Cumulated counts by upper bound, as Prometheus has them."""
        bounds = (*(f"{bound:g}" for bound in BOUNDS), "+Inf")
        return [(bound, float(n)) for bound, n in zip(bounds, accumulate(self.counts), strict=True)]


class Latencies:
    """A histogram for each method and route; a route is a template, never a caller's path."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], Histogram] = {}

    def observe(self, method: str, route: str, seconds: float) -> None:
        """Count a request that was answered."""
        found = self._of.get((method, route))
        if found is None:
            found = self._new(method, route)
        found.observe(seconds)

    def __iter__(self) -> Iterator[tuple[tuple[str, str], Histogram]]:
        """Method and route, with their histogram."""
        return iter(list(self._of.items()))

    def _new(self, method: str, route: str) -> Histogram:
        """Strange methods share one label: callers choose them."""
        if method not in _METHODS or len(self._of) >= _MOST_ROUTES:
            method, route = "other", NO_ROUTE
        return self._of.setdefault((method, route), Histogram())
