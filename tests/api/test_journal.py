"""What happened and why: decisions, events, alerts and read models, for people who look back."""

import json
import time
import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.service import Service


def _pages(service: Service, path: str, limit: int, **params: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = service.get(path, limit=limit, cursor=cursor, **params).ok()
        assert set(page.body) == {"items", "next"}
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


def _message(service: Service, name: str, intent: str) -> Any:
    return service.ask("message", thread_id=name, intent=intent, customer_id=name)


def test_every_answer_is_a_decision_newest_first(service: Service, name: str) -> None:
    ids = []
    for intent in ("a", "a", "b", "c", "d"):
        ids.append(_message(service, name, intent)["decision_id"])
        service.advance(seconds=1)
    for limit in (1, 2, 1000):
        listed = _pages(service, "/v1/decisions", limit, customer_id=name)
        assert [d["decision_id"] for d in listed] == ids[::-1]
    codes = [d["code"] for d in listed]
    assert codes == ["breaker_open", "cap_reached", None, "permit_held", None]
    assert [d["status"] for d in listed] == [409, 429, 201, 409, 201]


def test_decisions_about_one_of_many_invoices_are_found_by_it(service: Service, name: str) -> None:
    invoices = [f"{name}-1", f"{name}-2"]
    for invoice in invoices:
        service.put_invoice(invoice, due_on="2026-10-01", customer_id=name).ok()
    permit = service.ask("reminder", invoices=invoices).ok(201)
    service.redeem(permit["permit_id"]).ok()
    denied = service.ask("reminder", invoices=invoices).no(409, "permit_held")["decision_id"]
    alone = service.remind(invoices[0]).no(409, "permit_held")["decision_id"]
    for invoice, expected in zip(invoices, ({alone, denied}, {denied}), strict=True):
        items = service.get("/v1/decisions", invoice_id=invoice).ok()["items"]
        yes = {item["operation"]: item["decision_id"] for item in items if item["status"] < 300}
        assert sorted(yes) == ["permit", "redeem"]
        assert yes["permit"] == permit["decision_id"]
        assert {item["decision_id"] for item in items if item["status"] >= 400} == expected
        assert len(items) == 2 + len(expected)


def test_a_merged_customers_decisions_are_found_under_either_id(
    service: Service, name: str
) -> None:
    before = _message(service, f"{name}-old", "a").ok(201)["decision_id"]
    service.fact("customer.merged", {"from": f"{name}-old", "into": name})
    for customer in (name, f"{name}-old"):
        items = service.get("/v1/decisions", customer_id=customer).ok()["items"]
        assert [item["decision_id"] for item in items] == [before]


def test_decisions_are_found_by_each_of_their_marks(service: Service, name: str) -> None:
    poller = service.client("send", name=f"poller-{name}")
    service.put_invoice(f"inv-{name}", due_on="2026-10-01").ok()
    started = service.clock
    reminder = poller.remind(f"inv-{name}").ok(201)["decision_id"]
    service.advance(seconds=10)
    message = poller.ask("message", thread_id=f"thr-{name}", intent="x", customer_id=name)
    message = message.ok(201)["decision_id"]
    service.advance(seconds=10)
    denial = poller.ask("message", thread_id=f"thr-{name}", intent="x")["decision_id"]

    def found(**params: Any) -> list[str]:
        items = service.get("/v1/decisions", **params).ok()["items"]
        return [item["decision_id"] for item in items]

    assert found(invoice_id=f"inv-{name}") == [reminder]
    assert found(customer_id=f"cus-inv-{name}") == [reminder]
    assert found(thread_id=f"thr-{name}") == [denial, message]
    assert found(sender=f"poller-{name}") == [denial, message, reminder]
    assert found(sender=f"poller-{name}", code="permit_held") == [denial]
    middle = (started + timedelta(seconds=10)).isoformat()
    assert found(sender=f"poller-{name}", to=middle) == [reminder]
    assert found(sender=f"poller-{name}", from_=middle) == [denial, message]
    assert found(customer_id=f"nobody-{name}") == []


@pytest.mark.parametrize(
    "params", [{"from_": "yesterday"}, {"to": "2026-12-01"}, {"customer_id": "x" * 256}], ids=str
)
def test_a_bad_filter_is_422(params: dict[str, str], service: Service) -> None:
    service.get("/v1/decisions", **params).no(422, "invalid_request")


def test_a_decision_tells_request_answer_and_policy(service: Service, name: str) -> None:
    asked = {
        "kind": "message",
        "thread_id": name,
        "intent": "x",
        "to": f"secret.{name}@example.com",
        "metadata": {"trace": "t-1"},
    }
    answer = service.post("/v1/permits", asked).ok(201)
    decision = service.get(f"/v1/decisions/{answer['decision_id']}").ok()
    assert decision["request"]["thread_id"] == name
    assert decision["request"]["metadata"] == {"trace": "t-1"}
    assert decision["answer"]["permit_id"] == answer["permit_id"]
    assert decision["policy"] == service.get("/v1/policy").ok()["version"]
    assert decision["position"] == answer["position"]
    assert decision["sender"] == "first"
    assert f"secret.{name}" not in json.dumps(decision.body)


def test_an_unknown_decision_is_404(service: Service) -> None:
    for decision_id in (str(uuid.uuid4()), "none", "1"):
        service.get(f"/v1/decisions/{decision_id}").no(404, "not_found")


def test_events_are_in_the_order_of_the_log(service: Service, name: str) -> None:
    service.put_invoice(name, customer_id=name, due_on="2026-10-01").ok()
    permit = service.remind(name).ok(201)
    service.report(permit["permit_id"], "sent").ok()
    events = _pages(service, "/v1/events", 2, customer_id=name)
    positions = [int(e["position"]) for e in events]
    assert positions == sorted(positions)
    assert max(positions) >= int(permit["position"])
    kinds = [e["topic"].rpartition(":")[2] for e in events]
    assert [k for k in kinds if k.startswith("Invoice")] == [
        "Invoice.Created",
        "Invoice.Observed",
        "Invoice.ReminderPermitted",
        "Invoice.ReminderSent",
    ]
    of_invoice = _pages(service, "/v1/events", 1000, aggregate=f"invoice:{name}")
    assert [e["topic"] for e in of_invoice] == [
        e["topic"] for e in events if "Invoice" in e["topic"]
    ]
    by_id = _pages(service, "/v1/events", 1000, aggregate=of_invoice[0]["aggregate_id"])
    assert by_id == of_invoice
    assert "@" not in json.dumps(events)
    service.get("/v1/events", customer_id=f"no-{name}").no(404, "unknown_customer")
    service.get("/v1/events", aggregate="nonsense").no(422, "invalid_request")
    assert len(service.get("/v1/events", limit=3).ok()["items"]) == 3


def test_an_alert_is_acknowledged_once_seen(service: Service, name: str) -> None:
    for intent in "abc":
        _message(service, name, intent)
    (alert,) = service.alerts("breaker_opened", name)
    assert alert["kind"] == "breaker_opened"
    assert alert["dedupe_key"].startswith("breaker_opened:")
    assert datetime.fromisoformat(alert["raised_at"]) == service.clock
    unseen = service.get("/v1/alerts", unacked="true", limit=1000).ok()["items"]
    assert alert["alert_id"] in [a["alert_id"] for a in unseen]
    service.post(f"/v1/alerts/{alert['alert_id']}/ack", {"by": "ann"}).ok()
    service.post(f"/v1/alerts/{alert['alert_id']}/ack").ok()
    (alert,) = service.alerts("breaker_opened", name)
    assert alert["acked_by"] == "ann"
    unseen = service.get("/v1/alerts", unacked="true", limit=1000).ok()["items"]
    assert alert["alert_id"] not in [a["alert_id"] for a in unseen]
    for alert_id in ("0", "-1", "999999999", "9" * 30):
        service.post(f"/v1/alerts/{alert_id}/ack").no(404, "not_found")
    service.post("/v1/alerts/one/ack").no(422, "invalid_request")


def test_alerts_come_in_pages_newest_first(service: Service, name: str) -> None:
    for number in range(3):
        for intent in "abc":
            _message(service, f"{name}-{number}", intent)
    listed = _pages(service, "/v1/alerts", 2, kind="breaker_opened")
    ids = [a["alert_id"] for a in listed]
    assert ids == sorted(ids, reverse=True)
    mine = [a["customer_id"] for a in listed if a["customer_id"].startswith(name)]
    assert mine == [f"{name}-{number}" for number in (2, 1, 0)]
    assert service.get("/v1/alerts", kind="no_such_kind").ok()["items"] == []


def test_read_models_tell_how_far_they_are_and_are_rebuilt(service: Service, name: str) -> None:
    service.put_invoice(name, due_on="2026-10-01").ok()
    before = service.get("/v1/due", limit=1000).ok()
    models = service.get("/v1/projections").ok()["items"]
    assert {m["name"] for m in models} >= {"customers", "invoices"}
    for model in models:
        assert {"name", "position", "lag", "state"} <= set(model)
        assert model["state"] == "live"
        rebuilt = service.post(f"/v1/projections/{model['name']}/rebuild")
        assert rebuilt.ok(202)["name"] == model["name"]
        _wait_for_new_generation(service, model)
    after = service.get("/v1/due", limit=1000).ok()
    assert after["items"] == before["items"]
    service.post("/v1/projections/nothing/rebuild").no(404, "not_found")


def _wait_for_new_generation(service: Service, model: dict[str, Any]) -> None:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        named = [
            m
            for m in service.get("/v1/projections").ok()["items"]
            if m["name"] == model["name"] and m["state"] == "live"
        ]
        if [m["generation"] for m in named] == [model["generation"] + 1]:
            return
        time.sleep(0.05)
    raise AssertionError(f"no new generation of {model}")
