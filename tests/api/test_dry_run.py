"""Dry runs over HTTP: a yes is 200 and never 201, and nothing is on record afterwards."""

from typing import Any

import psycopg
import pytest

from tests.support.service import Service

WRITTEN = "events snapshots permits names decisions alerts contacts idempotency invoice_owners"
"""The tables that a decision may write."""


def _message(thread: str, intent: str, **fields: Any) -> dict[str, Any]:
    asked = {"kind": "message", "thread_id": thread, "intent": intent, "customer_id": thread}
    return asked | fields


def _on_record(service: Service) -> dict[str, int]:
    """The log's head, and how many rows each table of decisions has."""
    with psycopg.connect(service.database) as db:
        found = {}
        for name in WRITTEN.split():
            rows = db.execute(f"SELECT count(*) FROM {name}").fetchone()
            assert rows is not None
            found[name] = int(rows[0])
        head = db.execute("SELECT coalesce(max(position), 0) FROM events").fetchone()
        assert head is not None
        return found | {"head": int(head[0])}


def test_a_yes_is_200_and_nothing_is_written(service: Service, name: str) -> None:
    agent = service.client("send")
    before = _on_record(service)
    for _ in range(2):
        heard = agent.post("/v1/permits", _message(name, "a", dry_run=True), key=name).ok()
        assert set(heard.body) == {"dry_run", "would_grant"}
        assert heard["dry_run"] is True
        assert heard["would_grant"]["windows"] == {"outreach_24h": {"used": 1, "limit": 2}}
    assert _on_record(service) == before
    agent.post("/v1/permits", _message(name, "a"), key=name).ok(201)


def test_a_no_is_the_problem_that_it_would_be_and_opens_nothing(
    service: Service, name: str
) -> None:
    agent = service.client("send")
    for intent in "ab":
        agent.post("/v1/permits", _message(name, intent)).ok(201)
    before = _on_record(service)
    for _ in range(2):
        heard = agent.post("/v1/permits", _message(name, "c", dry_run=True)).no(429, "cap_reached")
        assert heard["dry_run"] is True
        assert "decision_id" not in heard.body
        assert heard["next_action"] == "ask_human"
    assert _on_record(service) == before
    assert service.breaker(name) == "closed"


def test_a_batch_is_rehearsed_in_order(service: Service, name: str) -> None:
    agent = service.client("send", intents=["a", "b", "c"])
    requests = [_message(name, intent) for intent in ("a", "x", "a", "b", "c")]
    requests.insert(0, {"kind": "message"})
    before = _on_record(service)
    heard = agent.post("/v1/permits/batch", {"requests": requests, "dry_run": True}, key=name).ok()
    assert heard["dry_run"] is True
    codes = [item.get("problem", {}).get("code", "yes") for item in heard["results"]]
    wanted = ["invalid_request", "yes", "unknown_intent", "permit_held", "yes", "cap_reached"]
    assert codes == wanted
    assert [i["status"] for i in heard["results"]] == [422, 200, 422, 409, 200, 429]
    yes = heard["results"][1]
    assert set(yes) == {"status", "would_grant"}
    assert _on_record(service) == before
    real = agent.post("/v1/permits/batch", {"requests": requests}, key=name).ok()
    assert [item["status"] for item in real["results"]] == [422, 201, 422, 409, 201, 429]
    assert "dry_run" not in real.body


def test_one_request_of_a_real_batch_is_no_dry_run(service: Service, name: str) -> None:
    requests = [_message(name, "a", dry_run=True), _message(name, "b")]
    results = service.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    assert [item["status"] for item in results] == [422, 201]
    empty = service.post("/v1/permits/batch", {"requests": [], "dry_run": True}).ok()
    assert (empty["results"], empty["dry_run"]) == ([], True)


@pytest.mark.parametrize("path", ["/v1/permits", "/v1/permits/batch"])
def test_it_needs_what_the_request_needs(service: Service, name: str, path: str) -> None:
    asked = _message(name, "a", dry_run=True)
    body = asked if path == "/v1/permits" else {"requests": [asked], "dry_run": True}
    service.without_key().post(path, body).no(401, "unauthorized")
    service.client("facts", "audit").post(path, body).no(403, "forbidden")
    override = {"action_id": name, "by": "ann", "reason": "r"}
    agent = service.client("send")
    if path == "/v1/permits":
        agent.post(path, asked | {"override": override}).no(403, "forbidden")
    limited = service.client("send", customers=["eu_*"])
    refused = limited.post(path, body)
    problem = refused.body if path == "/v1/permits" else refused["results"][0]["problem"]
    assert problem["code"] == "key_limit"


def test_no_address_is_shown(service: Service, name: str) -> None:
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@x.example"]})
    asked = {"kind": "notification", "customer_id": name, "event_type": "x", "event_id": name}
    heard = service.post("/v1/permits", asked | {"dry_run": True}).ok()
    assert f"{name}@x.example" not in heard.text
    assert service.post("/v1/permits", asked).ok(201)["to"] == f"{name}@x.example"
