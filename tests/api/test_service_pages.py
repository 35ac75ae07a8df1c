"""Health, metrics, policy and the document: what the service says about itself."""

import os

import pytest

from tests.support.service import Service


def test_health_and_readiness_need_no_key(shared_service: Service) -> None:
    nobody = shared_service.without_key()
    assert nobody.get("/healthz").ok().body == {"status": "ok"}
    assert nobody.get("/readyz").ok().body == {"status": "ready"}


def test_metrics_carry_counts_and_never_a_customer(service: Service, name: str) -> None:
    email = f"{name}@example.com"
    fields = {"thread_id": name, "intent": "x", "to": email, "customer_id": name}
    service.ask("message", **fields).ok(201)
    service.ask("message", **fields).no(409, "permit_held")
    answer = service.without_key().call("GET", "/metrics").ok()
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    samples = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"
    }
    assert samples["send_ledger_commands_total"] >= 2
    assert samples['send_ledger_answers_total{code="permit_held"}'] >= 1
    assert samples["send_ledger_log_position"] > 0
    assert name not in answer.text
    assert "@" not in answer.text


def test_the_policy_in_force_is_readable(shared_service: Service) -> None:
    answer = shared_service.get("/v1/policy").ok()
    policy = answer["policy"]
    assert [s["name"] for s in policy["stages"]] == ["day-3", "day-7", "day-14"]
    assert (policy["outreach_per_day"], policy["permit_minutes"]) == (2, 10)
    assert answer["version"]


def test_the_document_and_its_page_are_served(shared_service: Service) -> None:
    nobody = shared_service.without_key()
    assert nobody.get("/openapi.json").ok()["openapi"].startswith("3.")
    assert "html" in nobody.call("GET", "/docs").ok().headers["content-type"]


def test_the_announcement_names_the_process(shared_service: Service) -> None:
    os.kill(shared_service.pid, 0)


@pytest.mark.parametrize(
    "now", ["2026-11-30T23:59:59Z", "2026-12-01T00:00:00", "tomorrow", 1796083200, None, ""]
)
def test_the_test_clock_takes_times_and_never_goes_back(now: object, service: Service) -> None:
    before = service.get("/v1/control").ok()["now"]
    service.post("/v1/test-clock", {"now": now}).no(422, "invalid_request")
    assert service.get("/v1/control").ok()["now"] == before


def test_the_test_clock_moves_and_may_be_told_twice(service: Service) -> None:
    at = service.advance(seconds=1.25)
    told = service.post("/v1/test-clock", {"now": at.isoformat()}).ok()
    assert told["now"] == at.isoformat().replace("+00:00", "Z")
    assert int(told["position"]) >= 0
    assert service.get("/v1/control").ok()["now"] == told["now"]
