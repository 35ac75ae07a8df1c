"""The guard check over HTTP: what it answers, what it leaves behind, and what a resume lets go."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.receivers import Webhook, webhook
from tests.support.service import Answer, Service, fresh_service

RESERVED = "ledger-probe-1"
SNAPSHOT = {"currency": "USD", "total": 100, "amount_remaining": 100, "status": "open"}


@pytest.fixture(scope="module")
def target() -> Iterator[Webhook]:
    """Where pages go."""
    with webhook() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def guarded(durable_postgres: str, target: Webhook) -> Iterator[Service]:
    """A service that this file pauses, on a store that keeps what it commits."""
    urls = {"LEDGER_ALERT_URLS": target.url}
    with fresh_service(durable_postgres, "2026-12-01T00:00:00+00:00", env=urls) as service:
        yield service


def pause(service: Service, scope: str = "all") -> Answer:
    """A pause by the first key."""
    return service.post("/v1/control/pause", {"scope": scope, "reason": "a flood"}).ok()


def check(service: Service) -> str:
    """The id of a guard check that passed."""
    answer = service.post("/v1/control/guard-check").ok()
    assert answer["passed"] is True, answer["checks"]
    name: str = answer["id"]
    return name


def resume(service: Service, scope: str = "all") -> Answer:
    """A resume by the first key, proved by a fresh guard check."""
    body = {"scope": scope, "reason": "mended", "guard_check_id": check(service)}
    return service.post("/v1/control/resume", body).ok()


def test_a_check_answers_with_each_probe_and_delivers_a_drill(
    guarded: Service, target: Webhook
) -> None:
    pause(guarded)
    answer = guarded.post("/v1/control/guard-check", {"metadata": {"ticket": "42"}}).ok()
    assert set(answer.body) == {"id", "started_at", "passed", "checks", "position"}
    assert answer["passed"] is True
    assert {c["name"]: c["passed"] for c in answer["checks"]} == {
        "duplicate_denied": True,
        "flood_stopped": True,
        "breaker_opened": True,
        "drill_delivered": True,
        "decisions_recorded": True,
        "projections_current": True,
        "clock_sane": True,
        "store_durable": True,
    }
    drills = [body for body in target.bodies if answer["id"] in body["dedupe_key"]]
    assert [body["reason"] for body in drills] == ["drill"]
    listed = guarded.get("/v1/control").ok()["guard_checks"][-1]
    assert (listed["id"], listed["passed"]) == (answer["id"], True)
    resume(guarded)


def test_a_check_needs_no_body_and_takes_no_unknown_field(guarded: Service) -> None:
    assert guarded.post("/v1/control/guard-check", {}).ok()["passed"] is True
    guarded.post("/v1/control/guard-check", {"scope": "all"}).no(422, "invalid_request")


def test_a_repeated_key_hears_of_the_same_check(guarded: Service) -> None:
    first = guarded.post("/v1/control/guard-check", {}, key="check-1").ok()
    again = guarded.post("/v1/control/guard-check", {}, key="check-1").ok()
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"


def test_a_resume_is_signed_with_the_keys_name_where_nobody_is_named(guarded: Service) -> None:
    operator = guarded.client("operate", "audit", name="ann's key")
    pause(guarded, "kind:digest")
    body = {"scope": "kind:digest", "reason": "mended", "guard_check_id": check(guarded)}
    operator.post("/v1/control/resume", body | {"reason": ""}).no(422, "invalid_request")
    operator.post("/v1/control/resume", body).ok()
    events = guarded.get("/v1/events", aggregate="control:ledger", limit=1000).ok()["items"]
    resumed = [e["state"] for e in events if e["topic"] == "ledger:Control.Resumed"][-1]
    assert (resumed["by"], resumed["reason"]) == ("ann's key", "mended")
    assert resumed["guard_check_id"] == body["guard_check_id"]


def test_it_is_seen_in_the_decision_log_and_in_no_list(guarded: Service) -> None:
    check_id = check(guarded)
    customer_id = f"ledger-probe-{check_id}"
    decisions = guarded.get("/v1/decisions", customer_id=customer_id, limit=100).ok()["items"]
    assert [d["sender"] for d in decisions] == ["guard-check"] * 10
    permits = guarded.get("/v1/permits", limit=1000).ok()["items"]
    assert [p for p in permits if p["customer_id"].startswith("ledger-probe-")] == []
    for state in ("granted", "redeemed", "unknown"):
        assert guarded.get("/v1/permits", state=state).ok()["items"] == []
    alerts = guarded.get("/v1/alerts", unacked="true").ok()["items"]
    assert [a for a in alerts if a["customer_id"] == customer_id] == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/invoices/inv_r", SNAPSHOT | {"customer_id": RESERVED}),
        (
            "POST",
            "/v1/permits",
            {
                "kind": "notification",
                "event_type": "e",
                "event_id": "1",
                "customer_id": RESERVED,
            },
        ),
        (
            "POST",
            "/v1/permits",
            {"kind": "message", "thread_id": "t_r", "intent": "i", "customer_id": RESERVED},
        ),
        (
            "POST",
            "/v1/permits",
            {"kind": "digest", "inbox_id": "i", "date": "2026-12-04", "customer_id": RESERVED},
        ),
        ("POST", "/v1/permits", {"kind": "apology", "incident_id": "i", "customer_id": RESERVED}),
        (
            "POST",
            "/v1/permits",
            {
                "kind": "reminder",
                "invoices": ["inv_r"],
                "facts": {"inv_r": SNAPSHOT | {"customer_id": RESERVED}},
            },
        ),
        ("POST", f"/v1/customers/{RESERVED}/breaker/reset", {"reason": "r"}),
        ("POST", "/v1/breakers/reset", {"reason": "r", "customer_ids": [RESERVED]}),
        ("GET", f"/v1/customers/{RESERVED}", None),
    ],
)
def test_reserved_ids_are_refused(method: str, path: str, body: Any, guarded: Service) -> None:
    problem = guarded.call(method, path, body).no(422, "invalid_request")
    assert "the guard check's own" in problem["detail"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("customer.observed", {"customer_id": RESERVED, "emails": []}),
        ("customer.merged", {"from": "cus_r", "into": RESERVED}),
        ("customer.merged", {"from": RESERVED, "into": "cus_r"}),
        ("send.observed", {"customer_id": RESERVED, "at": "2026-11-30T00:00:00Z"}),
        ("invoice.observed", SNAPSHOT | {"invoice_id": "inv_r", "customer_id": RESERVED}),
    ],
)
def test_facts_about_reserved_ids_are_rejected(
    kind: str, data: dict[str, Any], guarded: Service
) -> None:
    event = {"id": "1", "source": "tests", "type": kind, "data": data}
    results = guarded.post("/v1/facts", {"facts": [event]}).ok()["results"]
    assert results[0]["result"] == "rejected"
    assert "the guard check's own" in results[0]["detail"]


def test_nothing_bursts_after_a_resume(guarded: Service) -> None:
    """Three weeks of pause; then each customer still has two mails a day and a stage an invoice."""
    invoices = {c: [f"inv_{c}_{n}" for n in range(4)] for c in ("burst_1", "burst_2")}
    for customer_id, names in invoices.items():
        for invoice_id in names:
            guarded.put_invoice(invoice_id, customer_id=customer_id, due_on="2026-12-01").ok()
    pause(guarded)
    for _ in range(3):
        guarded.advance(days=7)
        for names in invoices.values():
            for invoice_id in names:
                guarded.remind(invoice_id).no(409, "paused")
    resume(guarded)
    for names in invoices.values():
        heard = [guarded.remind(i) for i in names for _ in range(2)]
        granted = [a for a in heard if a.status == 201]
        assert [a["items"][0]["stage"] for a in granted] == ["day-14", "day-14"]
        assert [a["items"][0]["supersedes"] for a in granted] == [["day-3", "day-7"]] * 2
        codes = [a.code for a in heard if a.status != 201]
        assert codes == ["permit_held", "permit_held", "cap_reached", *["breaker_open"] * 3]
