"""Metrics in Prometheus' text format, without addresses and customer ids (D18)."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, TypeAlias

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from api.http.context import Context
from api.upkeep.status_watch import LedgerStatus
from ledger.store.looking_back.status_counts import AGES

Values: TypeAlias = Mapping[Any, float]
"""Values by their labels: texts, in the order of the label names."""


class LedgerCollector(Collector):
    """Collects the metrics of this process's engine, projector, pager and HTTP interface."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def collect(self) -> Iterator[Metric]:
        """The current metrics; nothing here asks the database."""
        yield from self._of_engine()
        yield from self._of_http()
        yield from self._context.intake.counts.metrics()
        yield from self._of_status()
        lag = {
            (name,): self._context.projector.lag_of(name)
            for name in self._context.projector.progress
        }
        yield _gauges("projection_lag_seconds", "How far a read model is behind", ("name",), lag)
        pages = self._context.pager.counters
        yield _counter("pages_sent", "Pages delivered to a target", pages.sent)
        yield _counter("pages_failed", "Tries to deliver a page that failed", pages.failed)
        yield _gauge("pages_pending", "Pages that wait to be delivered", pages.pending)
        yield _gauge("gc_objects", "Objects that the garbage collector tracks", gc.get_count()[0])
        yield _gauges("build_info", "1", ("version",), {(version("send-ledger"),): 1})

    def _of_engine(self) -> Iterator[Metric]:
        engine = self._context.engine
        counters = engine.counters
        yield _counter("commands", "Commands decided", counters.commands)
        yield _counter("batches", "Transactions committed", counters.batches)
        yield _counter("reruns", "Batches decided one by one after a failure", counters.reruns)
        yield _counter("refused_full", "Requests refused by a full queue", counters.refused_full)
        yield _counter(
            "unavailable", "Requests that the store did not answer", counters.unavailable
        )
        yield _counter(
            "redeems_skipped",
            "Mails reported as sent whose permit had to be redeemed and was not",
            counters.redeems_skipped,
        )
        yield _counter("batch_seconds", "Seconds spent on batches", counters.seconds_in_store)
        answers = {(code,): count for code, count in counters.answers.items()}
        yield _counters("answers", "Decisions by their answer", ("code",), answers)
        yield _counters(
            "decisions",
            "Decisions by sender, kind of mail and answer",
            ("sender", "kind", "code"),
            dict(counters.decisions),
        )
        yield _gauge("queue_length", "Commands that wait", engine.waiting)
        yield _gauge("log_position", "Position of the log", engine.position)
        suspect = engine.clock_suspect is not None
        yield _gauge("clock_suspect", "1 while the database's clock is not trusted", suspect)

    def _of_http(self) -> Iterator[Metric]:
        family = HistogramMetricFamily(
            "send_ledger_request_seconds",
            "From the head of a request to its answer, by route",
            labels=["method", "route"],
        )
        for labels, histogram in self._context.latencies:
            family.add_metric(labels, histogram.buckets(), histogram.sum)
        yield family

    def _of_status(self) -> Iterator[Metric]:
        """What was seen last; metrics without a value while the database does not answer.

        They are there from the start: OpenTelemetry is told of them once, before the first look.
        """
        up = self._context.watched.database_up
        yield _gauge("database_up", "1 while the database answers", up)
        seen = self._context.watched.status
        values = _status_values(seen) if seen is not None else {}
        for name, (text, labels) in _STATUS.items():
            yield _gauges(name, text, labels, values.get(name, {}))


_STATUS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "paused": ("1 for each scope that is paused", ("scope",)),
    "recovery_mode": ("1 while nothing is granted after a restore", ()),
    "open_breakers": ("Breakers that wait for a reset", ("scope",)),
    "unknown_permits": (
        "Permits whose outcome nobody knows, by how long ago their time was up",
        ("age",),
    ),
    "unseen_alerts": ("Alerts that nobody has acknowledged", ("kind",)),
    "feed_age_seconds": ("Since a source of facts was heard", ("source",)),
}
"""Texts and label names of the metrics that are read from the database."""


def _status_values(seen: LedgerStatus) -> dict[str, Values]:
    """Their values."""
    return {
        "paused": _ones(seen.paused),
        "recovery_mode": {(): float(seen.recovery)},
        "open_breakers": {(s,): seen.open_breakers.get(s, 0) for s in ("outreach", "all")},
        "unknown_permits": {(age,): seen.unknown_permits.get(age, 0) for age in AGES},
        "unseen_alerts": {(kind,): count for kind, count in seen.unseen_alerts.items()},
        "feed_age_seconds": {(_label(source),): age for source, age in seen.feed_ages.items()},
    }


async def render_metrics(context: Context) -> str:
    """The metrics of this process as text."""
    registry = CollectorRegistry()
    registry.register(LedgerCollector(context))
    ProcessCollector(registry=registry)
    return generate_latest(registry).decode()


def _ones(names: Iterable[str]) -> Values:
    return {(_label(name),): 1 for name in names}


def _label(text: str) -> str:
    """A label that somebody chose, without an address."""
    return "[address]" if "@" in text else text


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"send_ledger_{name}", text, value=value)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"send_ledger_{name}", text, value=float(value))


def _counters(name: str, text: str, labels: Sequence[str], values: Values) -> CounterMetricFamily:
    family = CounterMetricFamily(f"send_ledger_{name}", text, labels=labels)
    for of, value in values.items():
        family.add_metric(of, value)
    return family


def _gauges(name: str, text: str, labels: Sequence[str], values: Values) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"send_ledger_{name}", text, labels=labels)
    for of, value in values.items():
        family.add_metric(of, value)
    return family
