"""A service with a public URL and a collector: absolute types everywhere, and traces that leave."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.service import Service, fresh_service

BASE = "https://ledger.example.com/mail"


class _Collector(BaseHTTPRequestHandler):
    """Keeps what is posted, by path."""

    got: dict[str, list[bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.got.setdefault(self.path, []).append(body)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


@pytest.fixture(scope="module")
def collector() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """A collector's URL, and what it got by path."""
    got: dict[str, list[bytes]] = {}
    handler = type("Handler", (_Collector,), {"got": got})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()


def test_types_are_absolute_and_traces_leave(
    postgres: str, collector: tuple[str, dict[str, list[bytes]]]
) -> None:
    url, got = collector
    env = {"LEDGER_PUBLIC_URL": f"{BASE}/", "LEDGER_OTLP_URL": url}
    with fresh_service(postgres, "2026-12-01T00:00:00+00:00", env=env) as service:
        _use(service)
    names, text = set(), b"".join(body for bodies in got.values() for body in bodies)
    for body in got["/v1/traces"]:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names |= {span.name for scope in resource.scope_spans for span in scope.spans}
    assert {"POST /v1/permits", "GET /v1/customers/{customer_id}", "GET none"} <= names
    metrics = set()
    for body in got["/v1/metrics"]:
        for found in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            metrics |= {m.name for scope in found.scope_metrics for m in scope.metrics}
    wanted = {"http.server.request.duration", "send_ledger_answers", "send_ledger_recovery_mode"}
    assert wanted <= metrics
    assert b"@x.example" not in text
    assert b"cus_secret" not in text


def _use(service: Service) -> None:
    asked = {"kind": "message", "thread_id": "t", "intent": "x", "customer_id": "cus_secret"}
    service.post("/v1/permits", asked | {"to": "pat@x.example"}).ok(201)
    again = service.post("/v1/permits", asked)
    assert (again.status, again["type"]) == (409, f"{BASE}/problems/permit_held")
    batch = service.post("/v1/permits/batch", {"requests": [asked]}).ok()
    assert batch["results"][0]["problem"]["type"] == f"{BASE}/problems/permit_held"
    assert service.get("/v1/customers/cus_none")["type"] == f"{BASE}/problems/unknown_customer"
    assert service.get("/v1/customers/cus_secret").ok()["customer_id"] == "cus_secret"
    assert service.get("/nowhere")["type"] == f"{BASE}/problems/not_found"
