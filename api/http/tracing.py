"""A span and a duration for each request, for OpenTelemetry; used only where a collector is set.

Paths hold ids of customers, so a span is named by its route, and carries no query (design D18).
"""

from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.door.whole_answer import piecewise
from api.http.hot_routes import hot_route
from api.running.latency import NO_ROUTE
from ledger.application.clock import stopwatch

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Tracer


class Traced:
    """An ASGI application around the whole service."""

    def __init__(self, app: ASGIApp, tracer: "Tracer", durations: "Histogram") -> None:
        self.application = app
        self._tracer = tracer
        self._durations = durations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, as ASGI defines it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, StatusCode

        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        piecewise(scope)
        started, method = stopwatch(), scope["method"]
        caller = extract({k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]})
        with self._tracer.start_as_current_span(method, caller, SpanKind.SERVER) as span:
            try:
                await self.application(scope, receive, noted)
            finally:
                found = {"http.request.method": method, "http.route": _route_of(scope)}
                if status:
                    found["http.response.status_code"] = status
                if status >= 500:
                    span.set_status(StatusCode.ERROR)
                span.update_name(f"{method} {found['http.route']}")
                span.set_attributes(found)
                self._durations.record(stopwatch() - started, found)


def _route_of(scope: Scope) -> str:
    """The route's template: what the hot path answers has none in the scope."""
    if "route" in scope:
        return str(getattr(scope["route"], "path_format", NO_ROUTE))
    return hot_route(scope["path"])
