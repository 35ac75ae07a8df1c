"""Sends traces and metrics to an OpenTelemetry collector, where LEDGER_OTLP_URL names one.

The packages are an extra (`pip install send-ledger[otel]`); without the setting none is imported.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp

from api.http.tracing import Traced
from api.settings.environment import SettingsError

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from prometheus_client.registry import Collector

_NAME = "send-ledger"


@dataclass(frozen=True, slots=True)
class Telemetry:
    """The providers of one process; `around` wraps the service, `stop` sends what is left."""

    tracers: "TracerProvider"
    meters: "MeterProvider"

    def around(self, app: ASGIApp) -> ASGIApp:
        """The service, with a span and a duration for each request."""
        meter = self.meters.get_meter(_NAME)
        durations = meter.create_histogram(
            "http.server.request.duration", "s", "Duration of HTTP server requests."
        )
        return Traced(app, self.tracers.get_tracer(_NAME), durations)

    def observe(self, collector: "Collector") -> None:
        """Send what `/metrics` shows, too: each counter and gauge under the same name."""
        meter = self.meters.get_meter(_NAME)
        makers = {
            "counter": meter.create_observable_counter,
            "gauge": meter.create_observable_gauge,
        }
        for family in collector.collect():
            make = makers.get(family.type)
            if make is not None:
                make(family.name, [_reading(collector, family.name)], "", family.documentation)

    def stop(self) -> None:
        """Send what is left; a collector that does not answer is not waited for long."""
        self.tracers.shutdown()
        self.meters.shutdown(timeout_millis=3_000)


def telemetry_to(url: str) -> Telemetry:
    """Telemetry for a collector that takes OTLP over HTTP. Raises SettingsError.

    How many traces are kept is for the variables of OpenTelemetry (OTEL_TRACES_SAMPLER).
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError(
            f"LEDGER_OTLP_URL needs the packages of send-ledger[otel]: {error}"
        ) from error
    return telemetry_with(
        BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")),
        PeriodicExportingMetricReader(OTLPMetricExporter(f"{url}/v1/metrics")),
    )


def telemetry_with(spans: "SpanProcessor", metrics: "MetricReader") -> Telemetry:
    """Telemetry that gives spans and metrics to these."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    resource = Resource.create({"service.name": _NAME, "service.version": version(_NAME)})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(spans)
    return Telemetry(tracers, MeterProvider([metrics], resource, shutdown_on_exit=False))


def _reading(
    collector: "Collector", name: str
) -> "Callable[[CallbackOptions], Iterable[Observation]]":
    def read(_: Any) -> "Iterable[Observation]":
        from opentelemetry.metrics import Observation

        return [
            Observation(sample.value, dict(sample.labels))
            for family in collector.collect()
            if family.name == name
            for sample in family.samples
            if not sample.name.endswith("_created")
        ]

    return read
