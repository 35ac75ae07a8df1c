"""What the client tells of its work: logs, hooks and OpenTelemetry, none of it with an address."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from clients.python.tests.stub import PERMIT_ID, Stub, lost, no, plain
from opentelemetry.metrics import NoOpMeter, NoOpMeterProvider
from opentelemetry.trace import NoOpTracerProvider, Span, StatusCode
from opentelemetry.trace.span import INVALID_SPAN_CONTEXT, NonRecordingSpan

from sendledger import CallRecord, Denied, Ledger, OutcomeRecord, Refused, kinds
from sendledger.telemetry import OpenTelemetry

ASK = kinds.notification(event_type="shipped", event_id="9", to="pat@example.com")


class Notes:
    """A hook that keeps what it is told, and then fails."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []
        self.outcomes: list[OutcomeRecord] = []

    def on_call(self, record: CallRecord) -> None:
        """A call."""
        self.calls.append(record)
        raise RuntimeError("a hook that fails")

    def on_outcome(self, record: OutcomeRecord) -> None:
        """An outcome."""
        self.outcomes.append(record)
        raise RuntimeError("a hook that fails")


class RecordedSpan(NonRecordingSpan):
    """A span that is kept."""

    def __init__(self, name: str, attributes: Any, start: int) -> None:
        super().__init__(INVALID_SPAN_CONTEXT)
        self.name, self.attributes, self.start = name, attributes, start
        self.status: StatusCode | None = None
        self.ended = 0

    def set_status(self, status: Any, description: str | None = None) -> None:
        """The status."""
        self.status = status.status_code

    def end(self, end_time: int | None = None) -> None:
        """The end."""
        self.ended = end_time or 0


class Tracers(NoOpTracerProvider):
    """A provider whose spans are kept."""

    def __init__(self) -> None:
        self.spans: list[RecordedSpan] = []

    def get_tracer(self, *given: Any, **more: Any) -> Any:
        """Itself."""
        return self

    def start_span(self, name: str, **more: Any) -> Span:
        """A kept span."""
        span = RecordedSpan(name, more["attributes"], more["start_time"])
        self.spans.append(span)
        return span


class Meters(NoOpMeterProvider):
    """A provider whose measurements are kept."""

    def __init__(self) -> None:
        self.measured: list[tuple[str, float, dict[str, Any]]] = []

    def get_meter(self, *given: Any, **more: Any) -> Any:
        """A meter with kept instruments."""
        return _Meter(self)


class _Meter(NoOpMeter):
    def __init__(self, provider: Meters) -> None:
        super().__init__("sendledger")
        self._provider = provider

    def create_histogram(self, name: str, **more: Any) -> Any:  # type: ignore[override]
        return _Instrument(name, self._provider)

    def create_counter(self, name: str, **more: Any) -> Any:  # type: ignore[override]
        return _Instrument(name, self._provider)


class _Instrument:
    def __init__(self, name: str, provider: Meters) -> None:
        self._name, self._provider = name, provider

    def record(self, amount: float, attributes: dict[str, Any]) -> None:
        self._provider.measured.append((self._name, amount, attributes))

    add = record


@contextmanager
def client(stub: Stub, *hooks: Any) -> Iterator[Ledger]:
    """A client on the stand-in with these hooks."""
    with Ledger(
        "http://ledger.test", "slk_test", transport=stub.transport, pace=stub.pace, hooks=hooks
    ) as made:
        yield made


def test_hooks_hear_of_each_try_and_outcome_and_cannot_stop_a_send(stub: Stub) -> None:
    notes = Notes()
    stub.then("redeem", lost)
    with client(stub, notes) as ledger:
        assert ledger.send_once(ASK, send=lambda permit: "re_1").state == "sent"
    assert [(c.operation, c.number, c.status, c.permit_id) for c in notes.calls] == [
        ("ask", 1, 201, PERMIT_ID),
        ("redeem", 1, 0, PERMIT_ID),
        ("redeem", 2, 200, PERMIT_ID),
        ("outcome", 1, 200, PERMIT_ID),
    ]
    assert notes.calls[1].code == "ReadError"
    assert notes.outcomes == [OutcomeRecord(PERMIT_ID, "notification", "sent", None, True)]


def test_a_warning_of_the_ledger_is_logged(stub: Stub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="sendledger")
    warned = {"Ledger-Warning": "reported-id-not-kept"}
    stub.then("outcome", plain(200, warned, json={}))
    with client(stub) as ledger:
        ledger.send_once(ASK, send=lambda permit: "re_1")
    assert "the ledger warns of the outcome: reported-id-not-kept" in caplog.messages


def test_neither_logs_nor_records_hold_an_address(
    stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="sendledger")
    notes = Notes()
    stub.then("permits", no(409, "on_hold", detail="pat@example.com is on hold"))
    with client(stub, notes) as ledger:
        with pytest.raises(Denied):
            ledger.send_once(ASK, send=lambda permit: "re_1")

        def fails(permit: Any) -> None:
            raise KeyError(permit.to)

        with pytest.raises(KeyError):
            ledger.send_once(ASK, send=fails)
    said = caplog.text + repr(notes.calls) + repr(notes.outcomes)
    assert "on_hold" in said
    assert "KeyError" in said
    assert "example.com" not in said
    assert "slk_test" not in said


def test_opentelemetry_has_a_span_for_each_try_and_counts_outcomes(stub: Stub) -> None:
    tracers, meters = Tracers(), Meters()
    stub.then("permits", lost)
    hook = OpenTelemetry(tracers, meters)
    with client(stub, hook) as ledger, pytest.raises(Refused), ledger.permit(ASK):
        raise Refused("no such user")
    assert [
        (s.name, s.attributes["http.response.status_code"], s.status) for s in tracers.spans
    ] == [
        ("sendledger ask", 0, StatusCode.ERROR),
        ("sendledger ask", 201, None),
        ("sendledger redeem", 200, None),
        ("sendledger outcome", 200, None),
    ]
    assert all(0 < span.start <= span.ended for span in tracers.spans)
    counted = [(amount, what) for name, amount, what in meters.measured if "outcomes" in name]
    assert counted == [
        (
            1,
            {
                "sendledger.kind": "notification",
                "sendledger.outcome": "rejected",
                "sendledger.reported": True,
            },
        )
    ]
    assert "example.com" not in repr(meters.measured) + repr([s.attributes for s in tracers.spans])
