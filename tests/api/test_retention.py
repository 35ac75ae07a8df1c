"""A month of decisions that was taken away: the ledger goes on, and remembers every send."""

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.service import Service, fresh_service


@pytest.fixture(scope="module")
def service(durable_postgres: str) -> Iterator[Service]:
    """A service of its own: its decisions are taken away."""
    with fresh_service(durable_postgres, "2026-11-15T00:00:00Z") as service:
        yield service


def test_a_detached_month_of_decisions_lets_nothing_out_again(service: Service) -> None:
    sender = service.client("send", redeem="required")
    asked = {"thread_id": "thr_1", "customer_id": "cus_1"}
    sent = service.send("message", intent="a", **asked)
    sender.ask("message", idem="k", intent="b", **asked).ok(201)
    unknown = service.ask("message", idem="u", intent="c", thread_id="thr_2", customer_id="cus_2")
    decision = service.get("/v1/decisions", customer_id="cus_1").ok()["items"][0]["decision_id"]
    service.move_clock("2027-01-05T00:00:00Z")

    with psycopg.connect(service.database, autocommit=True) as db:
        db.execute("ALTER TABLE decisions DETACH PARTITION decisions_2026_11 CONCURRENTLY")

    again = service.ask("message", intent="a", **asked).no(409, "duplicate_intent")
    assert again["original"]["permit_id"] == sent
    service.ask("message", idem="u", intent="c", thread_id="thr_2").no(409, "outcome_unknown")
    fresh = sender.ask("message", idem="k", intent="b", **asked).ok(201)
    replayed = sender.ask("message", idem="k", intent="b", **asked).ok(200)
    assert replayed["permit_id"] == fresh["permit_id"]
    assert service.get(f"/v1/permits/{sent}").ok()["state"] == "sent"
    assert service.get(f"/v1/permits/{unknown['permit_id']}").ok()["state"] == "unknown"
    assert service.report(unknown["permit_id"], "sent").ok()["state"] == "sent"
    service.get(f"/v1/decisions/{decision}").no(404, "not_found")
    listed = service.get("/v1/decisions", customer_id="cus_1").ok()["items"]
    assert {d["decided_at"][:7] for d in listed} == {"2027-01"}
    assert service.get("/v1/audit/verify").ok()["ok"] is True
