"""Every write answers with a position: a token of what a read must have seen (contract)."""

import pytest

from tests.support.service import Answer, Service


def _seen(service: Service, write: Answer) -> None:
    """The position of a write is one that a read can have seen."""
    assert isinstance(write["position"], str)
    service.get("/v1/control", after=write["position"]).ok()


def test_a_key_that_is_made(service: Service, name: str) -> None:
    body = {"name": name, "scopes": ["send"]}
    made = service.post("/v1/keys", body, key=name).ok(201)
    _seen(service, made)
    assert service.post("/v1/keys", body, key=name).ok(201)["position"] == made["position"]


def test_an_alert_that_is_acknowledged(service: Service, name: str) -> None:
    for n in range(3):
        service.ask("message", thread_id=name, intent=str(n), customer_id=name)
    alert = service.alerts("breaker_opened")[0]
    _seen(service, service.post(f"/v1/alerts/{alert['alert_id']}/ack").ok())


def test_a_read_model_that_is_rebuilt(service: Service) -> None:
    model = service.get("/v1/projections").ok()["items"][0]["name"]
    _seen(service, service.post(f"/v1/projections/{model}/rebuild").ok(202))


@pytest.mark.parametrize("replayed", [False, True])
def test_a_claim(service: Service, name: str, replayed: bool) -> None:
    service.put_invoice(name, due_on="2026-11-20").ok()
    claim = service.post("/v1/due/claim", {"limit": 1000}, key=name).ok()
    assert name in {item["invoice_id"] for p in claim["permits"] for item in p["items"]}
    if replayed:
        claim = service.post("/v1/due/claim", {"limit": 1000}, key=name).ok()
        assert claim.headers["idempotent-replayed"] == "true"
    _seen(service, claim)
    assert int(claim["position"]) >= max(int(p["position"]) for p in claim["permits"])
