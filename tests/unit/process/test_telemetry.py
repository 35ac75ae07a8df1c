"""OpenTelemetry: a span and a duration for each request by its route, and what /metrics shows."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.process.assembly import build_app
from api.process.telemetry import Telemetry, telemetry_to, telemetry_with
from api.settings.environment import SettingsError, load_settings

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans() -> InMemorySpanExporter:
    """Keeps the spans."""
    return InMemorySpanExporter()


@pytest.fixture
def reader() -> InMemoryMetricReader:
    """Reads the metrics."""
    return InMemoryMetricReader()


@pytest.fixture
def telemetry(spans: InMemorySpanExporter, reader: InMemoryMetricReader) -> Iterator[Telemetry]:
    """Telemetry that stays in memory."""
    made = telemetry_with(SimpleSpanProcessor(spans), reader)
    yield made
    made.stop()


def _served(telemetry: Telemetry, path: str, status: int, route: str | None = None) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if route is not None:
            scope["route"] = SimpleNamespace(path_format=route)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        pass

    headers = [(b"traceparent", PARENT.encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    asyncio.run(telemetry.around(app)(scope, None, send))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "route", "named"),
    [
        ("/v1/permits", None, "/v1/permits"),
        ("/v1/permits/7c/redeem", None, "/v1/permits/{permit_id}/redeem"),
        ("/v1/webhooks/stripe", None, "/v1/webhooks/{provider}"),
        (
            "/v1/customers/pat@x.example",
            "/v1/customers/{customer_id}",
            "/v1/customers/{customer_id}",
        ),
        ("/pat@x.example", None, "none"),
    ],
)
def test_a_span_is_named_by_its_route_and_goes_on_from_the_callers(
    telemetry: Telemetry, spans: InMemorySpanExporter, path: str, route: str | None, named: str
) -> None:
    _served(telemetry, path, 201, route)
    (span,) = spans.get_finished_spans()
    assert span.name == f"POST {named}"
    assert dict(span.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": named,
        "http.response.status_code": 201,
    }
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == PARENT.split("-")[2]
    assert "pat@" not in span.to_json()


def test_a_failure_of_the_service_is_an_error_and_a_denial_is_not(
    telemetry: Telemetry, spans: InMemorySpanExporter
) -> None:
    _served(telemetry, "/v1/permits", 409)
    _served(telemetry, "/v1/permits", 503)
    assert [span.status.is_ok for span in spans.get_finished_spans()] == [True, False]


class _Some(Collector):
    def collect(self) -> Iterator[Metric]:
        answers = CounterMetricFamily("send_ledger_answers", "Decisions", labels=["code"])
        answers.add_metric(["paused"], 7)
        yield answers
        yield GaugeMetricFamily("send_ledger_queue_length", "Commands that wait", value=3)


def test_what_metrics_show_is_sent_under_the_same_names(
    telemetry: Telemetry, reader: InMemoryMetricReader
) -> None:
    telemetry.observe(_Some())
    _served(telemetry, "/v1/permits", 201)
    data: Any = reader.get_metrics_data()
    (scope,) = data.resource_metrics[0].scope_metrics
    found = {metric.name: metric.data.data_points[0] for metric in scope.metrics}
    assert found["send_ledger_answers"].value == 7
    assert dict(found["send_ledger_answers"].attributes) == {"code": "paused"}
    assert found["send_ledger_queue_length"].value == 3
    assert found["http.server.request.duration"].count == 1
    assert data.resource_metrics[0].resource.attributes["service.name"] == "send-ledger"


def test_off_by_default_the_service_is_not_wrapped() -> None:
    given = {"LEDGER_SECRET": "a secret of sixteen characters", "LEDGER_DATA_DIR": "/nonexistent"}
    settings = load_settings(given)
    assert settings.otlp_url is None
    assert type(build_app(settings, "dbname=none", True)).__name__ == "HotPath"


def test_without_the_packages_the_start_stops_with_their_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.metrics.export", None)
    with pytest.raises(SettingsError, match=r"needs the packages of send-ledger\[otel\]"):
        telemetry_to("http://127.0.0.1:4318")
