"""Every endpoint of the contract: its path, the scopes that may call it, and a valid body."""

from dataclasses import dataclass
from typing import Any

SCOPES = ("send", "facts", "operate", "audit", "admin")
_PERMIT = "6d0f3f0e-3f59-4b0f-8a1c-1f6f1d2a9c11"
_PEOPLE = ("operate", "audit")
_REJECTED = "/v1/webhooks/rejected"

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/problems/{code}"),
    ("POST", "/v1/webhooks/{provider}"),
}
"""Calls without a bearer key."""


@dataclass(frozen=True)
class Route:
    """One call: `path` as the OpenAPI document has it, `sample` with ids that nothing has."""

    method: str
    path: str
    scopes: tuple[str, ...]
    sample: str = ""
    body: Any = None

    @property
    def url(self) -> str:
        """A path that can be asked for."""
        return self.sample or self.path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


_SNAPSHOT = {"customer_id": "cus_none", "currency": "USD", "total": 1, "amount_remaining": 1}
_WHY = {"reason": "a test of scopes"}

ROUTES = (
    Route(
        "PUT",
        "/v1/invoices/{invoice_id}",
        ("facts",),
        "/v1/invoices/inv_scopes",
        _SNAPSHOT | {"status": "draft"},
    ),
    Route("GET", "/v1/invoices/{invoice_id}", ("facts", *_PEOPLE), "/v1/invoices/none"),
    Route("POST", "/v1/facts", ("facts",), body={"facts": []}),
    Route("POST", "/v1/permits", ("send",), body={"kind": "reminder", "invoices": ["none"]}),
    Route("POST", "/v1/permits/batch", ("send",), body={"requests": []}),
    Route("POST", "/v1/permits/redeem", ("send", "operate"), body={"redeems": []}),
    Route("POST", "/v1/permits/outcomes", ("send", "operate"), body={"outcomes": []}),
    Route("GET", "/v1/permits", ("send", *_PEOPLE)),
    Route("GET", "/v1/permits/{permit_id}", ("send", *_PEOPLE), f"/v1/permits/{_PERMIT}"),
    Route(
        "POST",
        "/v1/permits/{permit_id}/redeem",
        ("send", "operate"),
        f"/v1/permits/{_PERMIT}/redeem",
        {},
    ),
    Route(
        "POST",
        "/v1/permits/{permit_id}/outcome",
        ("send", "operate"),
        f"/v1/permits/{_PERMIT}/outcome",
        {"outcome": "sent"},
    ),
    Route("GET", "/v1/due", ("send", *_PEOPLE)),
    Route("POST", "/v1/due/claim", ("send",), body={"limit": 1, "stage": "day-3"}),
    Route(
        "POST",
        "/v1/jobs/{job}/lease",
        ("send",),
        "/v1/jobs/scopes/lease",
        {"holder": "me", "ttl_seconds": 1},
    ),
    Route("DELETE", "/v1/jobs/{job}/lease", ("send",), "/v1/jobs/scopes/lease"),
    Route(
        "GET",
        "/v1/customers/{customer_id}/windows",
        ("send", *_PEOPLE),
        "/v1/customers/none/windows",
    ),
    Route("GET", "/v1/customers/{customer_id}", _PEOPLE, "/v1/customers/none"),
    Route(
        "POST",
        "/v1/customers/{customer_id}/breaker/reset",
        ("operate",),
        "/v1/customers/none/breaker/reset",
        _WHY,
    ),
    Route(
        "POST", "/v1/breakers/reset", ("operate",), body=_WHY | {"customer_ids": ["cus_no_such"]}
    ),
    Route(
        "POST",
        "/v1/customers/{customer_id}/addresses/release",
        ("operate",),
        "/v1/customers/none/addresses/release",
        _WHY,
    ),
    Route("GET", "/v1/feeds", _PEOPLE),
    Route("GET", "/v1/control", _PEOPLE),
    Route(
        "POST",
        "/v1/control/pause",
        ("operate",),
        body=_WHY | {"scope": "sender:nobody of that name"},
    ),
    Route(
        "POST",
        "/v1/control/resume",
        ("operate",),
        body=_WHY | {"scope": "kind:digest", "guard_check_id": "none"},
    ),
    Route("POST", "/v1/control/clock/accept", ("operate",), body=_WHY | {"by": "ann"}),
    Route("POST", "/v1/control/guard-check", ("operate",)),
    Route(
        "POST",
        "/v1/incidents",
        ("operate",),
        body={
            "title": "t",
            "cause": "c",
            "from": "2026-01-01T00:00:00Z",
            "to": "1999-01-01T00:00:00Z",
        },
    ),
    Route("GET", "/v1/incidents", _PEOPLE),
    Route("GET", "/v1/incidents/{incident_id}", _PEOPLE, "/v1/incidents/none"),
    Route("GET", "/v1/incidents/{incident_id}/affected", _PEOPLE, "/v1/incidents/none/affected"),
    Route("GET", "/v1/incidents/{incident_id}/report", _PEOPLE, "/v1/incidents/none/report"),
    Route(
        "POST", "/v1/incidents/{incident_id}/close", ("operate",), "/v1/incidents/none/close", {}
    ),
    Route("POST", "/v1/test-clock", ("operate",), body={"now": "1970-01-01T00:00:00Z"}),
    Route("GET", "/v1/alerts", _PEOPLE),
    Route("POST", "/v1/alerts/{alert_id}/ack", ("operate",), "/v1/alerts/999999999/ack"),
    Route("POST", "/v1/alerts/ack", ("operate",), body={"alert_ids": [999999999]}),
    Route("GET", "/v1/breakers", _PEOPLE),
    Route("GET", "/v1/invoices", ("facts", *_PEOPLE)),
    Route("POST", "/v1/customers/search", _PEOPLE, body={"address": "nobody@example.com"}),
    Route("POST", "/v1/find", _PEOPLE, body={"text": "nothing of that name"}),
    Route("GET", "/v1/diagnosis", _PEOPLE),
    Route("GET", "/v1/decisions", _PEOPLE),
    Route("GET", "/v1/decisions/{decision_id}", _PEOPLE, f"/v1/decisions/{_PERMIT}"),
    Route("GET", "/v1/events", _PEOPLE),
    Route("GET", "/v1/audit/verify", _PEOPLE),
    Route(
        "GET",
        "/v1/reports/effect",
        _PEOPLE,
        "/v1/reports/effect?from=2026-01-01T00:00:00Z",
    ),
    Route("GET", "/v1/customers/{customer_id}/timeline", _PEOPLE, "/v1/customers/none/timeline"),
    Route("GET", "/v1/invoices/{invoice_id}/timeline", _PEOPLE, "/v1/invoices/none/timeline"),
    Route(
        "POST",
        "/v1/customers/{customer_id}/erase",
        ("operate",),
        "/v1/customers/none/erase",
    ),
    Route("GET", "/v1/projections", _PEOPLE),
    Route(
        "POST",
        "/v1/projections/{name}/rebuild",
        ("operate",),
        "/v1/projections/no-such-model/rebuild",
    ),
    Route(
        "POST", "/v1/keys", ("admin",), body={"name": "made by a scope test", "scopes": ["send"]}
    ),
    Route("GET", "/v1/keys", ("admin",)),
    Route("DELETE", "/v1/keys/{key_id}", ("admin",), "/v1/keys/key_none"),
    Route("GET", "/v1/policy", SCOPES),
    Route("GET", "/v1/webhooks/rejected", _PEOPLE),
    Route("GET", "/v1/webhooks/rejected/{rejected_id}", ("operate",), f"{_REJECTED}/999999"),
    Route(
        "POST",
        "/v1/webhooks/rejected/{rejected_id}/replay",
        ("operate",),
        f"{_REJECTED}/999999/replay",
    ),
    Route(
        "POST",
        "/v1/webhooks/rejected/{rejected_id}/dismiss",
        ("operate",),
        f"{_REJECTED}/999999/dismiss",
    ),
    Route("GET", "/v1/webhooks/refresh", _PEOPLE),
    Route(
        "POST",
        "/v1/webhooks/refresh/{refresh_id}/done",
        ("operate",),
        "/v1/webhooks/refresh/999999/done",
    ),
)
