"""Customers as people look at them, and breakers that a named human resets with a reason."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Answer, Service

_DAY = timedelta(days=1)


def _notify(service: Service, customer: str, number: int) -> Answer:
    asked = {"customer_id": customer, "event_type": "t", "event_id": str(number)}
    return service.ask("notification", **asked)


def _flood(service: Service, customer: str) -> None:
    """Open the customer's breaker."""
    for number in range(2):
        _notify(service, customer, number).ok(201)
    _notify(service, customer, 2).no(429, "cap_reached")


def test_a_customer_has_every_field_of_the_contract(service: Service, name: str) -> None:
    emails = [f"{name}@example.com", f"b.{name}@example.com"]
    service.fact("customer.observed", {"customer_id": name, "emails": emails})
    for part, currency, amount in (("a", "USD", 100), ("b", "USD", 23), ("c", "JPY", 300)):
        service.put_invoice(
            f"{name}-{part}", customer_id=name, currency=currency, total=amount
        ).ok()
    service.put_invoice(f"{name}-d", customer_id=name, amount_remaining=0).ok()
    _notify(service, name, 1).ok(201)
    customer = service.get(f"/v1/customers/{name}").ok()
    assert customer["customer_id"] == name
    assert customer["addresses"] == emails
    assert customer["breaker"] == {
        "state": "closed",
        "scope": None,
        "opened_at": None,
        "cause": None,
    }
    assert customer["windows"]["outreach_24h"] == {
        "used": 1,
        "limit": 2,
        "frees_at": (service.clock + _DAY).isoformat().replace("+00:00", "Z"),
    }
    assert customer["windows"]["replies_1h"] == {"used": 0, "limit": 5, "frees_at": None}
    assert customer["windows"]["replies_24h"]["limit"] == 30
    assert customer["windows"]["transactional_24h"]["limit"] == 20
    assert customer["owed"] == [
        {"currency": "JPY", "amount": 300},
        {"currency": "USD", "amount": 123},
    ]
    assert {i["invoice_id"] for i in customer["open_invoices"]} == {f"{name}-{x}" for x in "abc"}


def test_an_unknown_customer_is_404(service: Service, name: str) -> None:
    service.get(f"/v1/customers/{name}").no(404, "unknown_customer")
    reset = {"reason": "r"}
    service.post(f"/v1/customers/{name}/breaker/reset", reset).no(404, "unknown_customer")
    service.post(f"/v1/customers/{name}/addresses/release", reset).no(404, "unknown_customer")


def test_a_breaker_is_open_until_a_human_resets_it(service: Service, name: str) -> None:
    _flood(service, name)
    opened = service.clock
    service.advance(days=3)
    _notify(service, name, 3).no(409, "breaker_open")
    breaker = service.get(f"/v1/customers/{name}").ok()["breaker"]
    assert (breaker["state"], breaker["scope"]) == ("open", "outreach")
    assert breaker["opened_at"] == opened.isoformat().replace("+00:00", "Z")
    assert "2 of 2" in breaker["cause"]
    path = f"/v1/customers/{name}/breaker/reset"
    service.post(path, {}).no(422, "invalid_request")
    service.post(path, {"reason": ""}).no(422, "invalid_request")
    reset = service.post(path, {"reason": "the poller is mended", "by": "ann"}).ok()
    assert (reset["result"], int(reset["position"]) > 0) == ("applied", True)
    assert service.breaker(name) == "closed"
    _notify(service, name, 3).ok(201)
    events = service.get("/v1/events", customer_id=name, limit=1000).ok()["items"]
    (event,) = [e for e in events if e["topic"].endswith("BreakerReset")]
    assert (event["state"]["by"], event["state"]["reason"]) == ("ann", "the poller is mended")
    assert service.post(path, {"reason": "again"}).ok()["result"] == "ignored"


def test_who_resets_is_the_key_where_nobody_is_named(service: Service, name: str) -> None:
    _flood(service, name)
    operator = service.client("operate", name=f"ops {name}")
    operator.post(f"/v1/customers/{name}/breaker/reset", {"reason": "r"}).ok()
    events = service.get("/v1/events", customer_id=name).ok()["items"]
    (event,) = [e for e in events if e["topic"].endswith("BreakerReset")]
    assert event["state"]["by"] == f"ops {name}"


def test_a_reset_does_not_empty_the_window(service: Service, name: str) -> None:
    _flood(service, name)
    service.post(f"/v1/customers/{name}/breaker/reset", {"reason": "r"}).ok()
    _notify(service, name, 3).no(429, "cap_reached")
    assert service.breaker(name) == "open"
    assert len(service.alerts("breaker_opened", name)) == 2


def test_many_breakers_are_reset_at_once(service: Service, name: str) -> None:
    customers = [f"{name}-{number}" for number in range(3)]
    for customer in customers:
        _flood(service, customer)
    named = [*customers[:2], f"{name}-unknown"]
    answer = service.post("/v1/breakers/reset", {"customer_ids": named, "reason": "r"}).ok()
    assert answer["reset"] == customers[:2]
    assert answer["unknown"] == [f"{name}-unknown"]
    assert [service.breaker(c) for c in customers] == ["closed", "closed", "open"]
    everyone = service.post("/v1/breakers/reset", {"all": True, "reason": "r"}).ok()
    assert customers[2] in everyone["reset"]
    assert service.breaker(customers[2]) == "closed"
    assert service.post("/v1/breakers/reset", {"all": True, "reason": "r"}).ok()["reset"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"reason": "r"},
        {"all": True, "customer_ids": ["x"], "reason": "r"},
        {"all": False, "reason": "r"},
        {"customer_ids": [], "reason": "r"},
        {"customer_ids": "x", "reason": "r"},
        {"all": True},
    ],
    ids=str,
)
def test_a_reset_names_customers_or_all(body: dict[str, Any], service: Service) -> None:
    service.post("/v1/breakers/reset", body).no(422, "invalid_request")


def test_a_flood_of_400_gives_two_grants_and_one_page(service: Service, name: str) -> None:
    requests = [
        {"kind": "notification", "customer_id": name, "event_type": "t", "event_id": str(n)}
        for n in range(400)
    ]
    results = service.post("/v1/permits/batch", {"requests": requests}).ok()["results"]
    codes = [r["problem"]["code"] if "problem" in r else "granted" for r in results]
    assert codes == ["granted"] * 2 + ["cap_reached"] + ["breaker_open"] * 397
    assert len(service.alerts("breaker_opened", name)) == 1
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"] == 2


def test_ids_with_slashes_are_ids_of_customers_and_jobs_too(service: Service, name: str) -> None:
    customer, path = f"{name}/acct 1", f"/v1/customers/{name}%2Facct%201"
    _flood(service, customer)
    assert service.get(path).ok()["customer_id"] == customer
    assert service.get(path).ok()["breaker"]["state"] == "open"
    about = [item["about"]["customer_id"] for item in service.get(f"{path}/timeline").ok()["items"]]
    assert set(about) == {customer}
    reset = service.post(f"{path}/breaker/reset", {"reason": "known", "by": "ann"}).ok()
    assert reset["result"] == "applied"
    assert service.post(f"{path}/addresses/release", {"reason": "known"}).ok()
    assert service.get(path).ok()["breaker"]["state"] == "closed"
    service.get(f"{path}/nothing").no(404, "unknown_customer")
    assert service.post(f"{path}/erase").ok()["customer_id"] == customer

    lease = {"holder": "a", "ttl_seconds": 60}
    job = service.post(f"/v1/jobs/{name}%2Fdaily/lease", lease).ok()
    assert job["job"] == f"{name}/daily"
    service.call("DELETE", f"/v1/jobs/{name}%2Fdaily/lease").ok(204)
