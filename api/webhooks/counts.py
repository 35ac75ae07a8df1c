"""Counts the results of webhooks by provider, for metrics, without addresses (D18)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric


@dataclass(slots=True)
class WebhookCounts:
    """Counts of one process since it started; every label is one of a fixed set of words.

    `posts` is by provider, result and, if ignored or rejected, the kind of the reason; `fetches`
    is by provider and result; `waiting` is the number of objects to fetch, by provider.
    """

    posts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    fetches: Counter[tuple[str, str]] = field(default_factory=Counter)
    waiting: dict[str, int] = field(default_factory=dict)

    def metrics(self) -> Iterator[Metric]:
        """The counts for Prometheus."""
        posts = CounterMetricFamily(
            "send_ledger_webhooks",
            "Bodies posted by providers, by what became of them",
            labels=["provider", "result", "reason"],
        )
        for labels, count in self.posts.items():
            posts.add_metric(labels, count)
        yield posts
        fetches = CounterMetricFamily(
            "send_ledger_refresh_fetches",
            "Objects asked for at a provider's API",
            labels=["provider", "result"],
        )
        for pair, count in self.fetches.items():
            fetches.add_metric(pair, count)
        yield fetches
        waiting = GaugeMetricFamily(
            "send_ledger_refresh_waiting",
            "Objects that wait to be fetched, by this process or by a person",
            labels=["provider"],
        )
        for provider, number in self.waiting.items():
            waiting.add_metric([provider], number)
        yield waiting
