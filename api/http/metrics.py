"""Metrics in Prometheus' text format, without addresses and customer ids (D18)."""

import gc
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.http.context import Context


class LedgerCollector(Collector):
    """Collects the metrics of this process's engine, projector and pager."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def collect(self) -> Iterator[Metric]:
        """The current metrics."""
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
        answers = CounterMetricFamily(
            "send_ledger_answers", "Decisions by their answer", labels=["code"]
        )
        for code, count in counters.answers.items():
            answers.add_metric([code], count)
        yield answers
        yield GaugeMetricFamily(
            "send_ledger_queue_length", "Commands that wait", value=engine.waiting
        )
        yield GaugeMetricFamily(
            "send_ledger_log_position", "Position of the log", value=engine.position
        )
        lag = GaugeMetricFamily(
            "send_ledger_projection_lag_seconds", "How far a read model is behind", labels=["name"]
        )
        for name in self._context.projector.progress:
            lag.add_metric([name], self._context.projector.lag_of(name))
        yield lag
        pages = self._context.pager.counters
        yield from self._context.intake.counts.metrics()
        yield _counter("pages_sent", "Pages delivered to a target", pages.sent)
        yield _counter("pages_failed", "Tries to deliver a page that failed", pages.failed)
        yield GaugeMetricFamily(
            "send_ledger_pages_pending", "Pages that wait to be delivered", value=pages.pending
        )
        yield GaugeMetricFamily(
            "send_ledger_gc_objects", "Objects that the garbage collector tracks", gc.get_count()[0]
        )


async def render_metrics(context: Context) -> str:
    """The metrics of this process as text."""
    registry = CollectorRegistry()
    registry.register(LedgerCollector(context))
    return generate_latest(registry).decode()


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"send_ledger_{name}", text, value=value)
