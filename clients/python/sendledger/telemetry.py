"""OpenTelemetry: a span and a duration for each try of a call, a counter of outcomes. No addresses.

Needs the extra `opentelemetry`.
"""

from __future__ import annotations

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from sendledger.observing import CallRecord, OutcomeRecord

_NAME = "sendledger"


class OpenTelemetry:
    """A hook for `Ledger(hooks=[OpenTelemetry()])`; without providers of its own it uses the global
    ones."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_NAME, meter_provider=meter_provider)
        self._seconds = meter.create_histogram("sendledger.call.duration", unit="s")
        self._outcomes = meter.create_counter("sendledger.outcomes")

    def on_call(self, record: CallRecord) -> None:
        """A span with the times of the try, and its duration as a measurement."""
        attributes: dict[str, str | int] = {
            "sendledger.operation": record.operation,
            "sendledger.try": record.number,
            "http.response.status_code": record.status,
        }
        if record.code:
            attributes["sendledger.code"] = record.code
        named = {"sendledger.permit_id": record.permit_id} if record.permit_id else {}
        span = self._tracer.start_span(
            f"sendledger {record.operation}",
            kind=SpanKind.CLIENT,
            attributes={**attributes, **named},
            start_time=record.started,
        )
        if record.status == 0 or record.status >= 500:
            span.set_status(Status(StatusCode.ERROR, record.code))
        span.end(record.started + int(record.seconds * 1e9))
        self._seconds.record(record.seconds, attributes)

    def on_outcome(self, record: OutcomeRecord) -> None:
        """One more outcome of its kind."""
        self._outcomes.add(
            1,
            {
                "sendledger.kind": record.kind,
                "sendledger.outcome": record.outcome,
                "sendledger.reported": record.reported,
            },
        )
