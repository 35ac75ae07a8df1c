"""Histograms of latency: cumulated buckets, and labels that no caller can make many of."""

from api.running.latency import BOUNDS, NO_ROUTE, Histogram, Latencies


def test_a_histogram_cumulates_and_sums() -> None:
    histogram = Histogram()
    for seconds in (0.0005, 0.001, 0.003, 99.0):
        histogram.observe(seconds)
    buckets = dict(histogram.buckets())
    assert list(buckets) == [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    assert (buckets["0.001"], buckets["0.0025"], buckets["0.005"]) == (2, 2, 3)
    assert (buckets["10"], buckets["+Inf"]) == (3, 4)
    assert histogram.sum == 0.0005 + 0.001 + 0.003 + 99.0


def test_each_route_has_its_own_and_strange_methods_share_one() -> None:
    latencies = Latencies()
    latencies.observe("GET", "/v1/due", 0.1)
    latencies.observe("POST", "/v1/permits", 0.1)
    for method in ("FOO", "BAR"):
        latencies.observe(method, "/v1/due", 0.1)
    counted = {labels: sum(histogram.counts) for labels, histogram in latencies}
    assert counted == {("GET", "/v1/due"): 1, ("POST", "/v1/permits"): 1, ("other", NO_ROUTE): 2}


def test_the_number_of_labels_is_bounded() -> None:
    latencies = Latencies()
    for number in range(1_000):
        latencies.observe("GET", f"/{number}", 0.1)
    assert len(dict(iter(latencies))) <= 201
