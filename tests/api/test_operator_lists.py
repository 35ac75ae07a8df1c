"""What an operator looks for: open breakers, invoices, an address's customers, mails to look up."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Service


def _flood(service: Service, customer: str) -> None:
    """Open the customer's breaker."""
    for number in range(3):
        service.ask("notification", customer_id=customer, event_type="t", event_id=str(number))
    assert service.breaker(customer) == "open"


def _pages(service: Service, path: str, **params: Any) -> list[Any]:
    """The items of all pages, two on each."""
    items, cursor = [], None
    while True:
        page = service.get(path, limit=2, cursor=cursor, **params).ok()
        assert len(page["items"]) <= 2
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


def test_open_breakers_are_listed_with_their_cause(service: Service, name: str) -> None:
    ids = [f"{name}-{letter}" for letter in "abc"]
    for customer in ids:
        _flood(service, customer)
    found = {row["customer_id"]: row for row in _pages(service, "/v1/breakers")}
    mine = found[ids[0]]
    assert mine["scope"] == "outreach"
    assert mine["opened_at"] == service.clock.isoformat().replace("+00:00", "Z")
    assert mine["cause"] == service.get(f"/v1/customers/{ids[0]}").ok()["breaker"]["cause"]
    assert set(ids) <= set(found)
    service.post("/v1/breakers/reset", {"customer_ids": ids, "reason": "r"}).ok()
    left = {row["customer_id"] for row in _pages(service, "/v1/breakers")}
    assert not left & set(ids)


def test_a_look_before_all_breakers_close_tells_which(service: Service, name: str) -> None:
    _flood(service, f"{name}-before")
    service.advance(minutes=5)
    began = service.clock.isoformat()
    _flood(service, f"{name}-after")
    asked = {"all": True, "opened_since": began, "reason": "r", "by": "ann"}
    looked = service.post("/v1/breakers/reset", asked | {"dry_run": True}).ok()
    assert (looked["reset"], looked["would_reset"]) == ([], [f"{name}-after"])
    assert service.breaker(f"{name}-after") == "open"
    closed = service.post("/v1/breakers/reset", asked).ok()
    assert closed["reset"] == [f"{name}-after"]
    assert service.breaker(f"{name}-before") == "open"
    named = {"customer_ids": [f"{name}-before"], "reason": "r", "dry_run": True}
    looked = service.post("/v1/breakers/reset", named).ok()
    assert looked["would_reset"] == [f"{name}-before"]
    wrong = named | {"opened_since": began}
    service.post("/v1/breakers/reset", wrong).no(422, "invalid_request")
    service.post("/v1/breakers/reset", named | {"dry_run": False}).ok()


def test_who_closed_breakers_is_in_the_timeline(service: Service, name: str) -> None:
    start = service.clock
    for letter in "ab":
        _flood(service, f"{name}-{letter}")
        mail = {"customer_id": f"{name}-{letter}", "at": start.isoformat()}
        service.fact("send.observed", mail).ok()
    ids = [f"{name}-{letter}" for letter in "ab"]
    service.post("/v1/breakers/reset", {"customer_ids": ids, "reason": "fixed", "by": "eve"}).ok()
    window = {"from": start.isoformat(), "to": service.advance(minutes=5).isoformat()}
    incident = service.post("/v1/incidents", window | {"title": "t", "cause": "c"}).ok(201)
    report = service.get(f"/v1/incidents/{incident['incident_id']}/report").ok()
    told = [e["text"] for e in report["timeline"] if e["what"] == "breakers_reset"]
    assert told == ["eve closed the breakers of 2 customers: fixed"]


def test_invoices_are_listed_by_customer_and_status(service: Service, name: str) -> None:
    for letter in "abc":
        service.put_invoice(f"{name}-{letter}", customer_id=name, total=100).ok()
    service.put_invoice(f"{name}-d", customer_id=name, total=100, amount_remaining=0, status="paid")
    service.put_invoice(f"{name}-e", customer_id=f"{name}-old", total=700).ok()
    mine = _pages(service, "/v1/invoices", customer_id=name)
    assert sorted(i["invoice_id"] for i in mine) == [f"{name}-{x}" for x in "abcd"]
    paid = _pages(service, "/v1/invoices", customer_id=name, status="paid")
    assert [i["invoice_id"] for i in paid] == [f"{name}-d"]
    service.fact("customer.merged", {"from": f"{name}-old", "into": name})
    merged = _pages(service, "/v1/invoices", customer_id=name, status="open")
    assert sum(i["amount_remaining"] for i in merged) == 3 * 100 + 700
    everyone = _pages(service, "/v1/invoices")
    assert {f"{name}-{x}" for x in "abcde"} <= {i["invoice_id"] for i in everyone}
    assert service.get("/v1/invoices", customer_id=f"no-{name}").ok()["items"] == []


def test_an_invoice_of_the_list_has_what_was_told(service: Service, name: str) -> None:
    service.put_invoice(name, customer_id="c", total=300, amount_remaining=200, due_on="2026-12-01")
    [row] = service.get("/v1/invoices", customer_id="c", limit=1000).ok()["items"]
    assert row.pop("observed_at") == service.clock.isoformat().replace("+00:00", "Z")
    assert row == {
        "invoice_id": name,
        "customer_id": "c",
        "currency": "USD",
        "total": 300,
        "amount_remaining": 200,
        "status": "open",
        "issued_on": None,
        "due_on": "2026-12-01",
        "cycle": 1,
        "source": "put:first",
    }


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/v1/invoices", {"cursor": "bm8"}),
        ("/v1/invoices", {"status": "overdue"}),
        ("/v1/breakers", {"cursor": "%%"}),
        ("/v1/permits", {"kind": "spam"}),
        ("/v1/permits", {"from_": "yesterday"}),
        ("/v1/decisions", {"kind": "spam"}),
    ],
)
def test_a_filter_that_makes_no_sense_is_422(
    service: Service, path: str, params: dict[str, str]
) -> None:
    service.get(path, **params).no(422, "invalid_request")


def test_a_customer_is_found_by_an_address_they_have_or_had(service: Service, name: str) -> None:
    old, new = f"old.{name}@example.com", f"new.{name}@example.com"
    service.fact("customer.observed", {"customer_id": name, "emails": [old]})
    service.fact("customer.observed", {"customer_id": name, "emails": [new]})
    service.fact("customer.observed", {"customer_id": f"{name}-2", "emails": [new.upper()]})

    def found(address: str) -> list[tuple[str, bool]]:
        answer = service.post("/v1/customers/search", {"address": address}).ok()
        assert answer["more"] is False
        return [(row["customer_id"], row["has_it"]) for row in answer["items"]]

    assert found(old) == [(name, False)]
    assert (name, True) in found(new)
    assert found(f"no.{name}@example.com") == []
    service.post(f"/v1/customers/{name}/erase", {}).ok()
    assert found(old) == []
    service.post("/v1/customers/search", {"address": "x"}).no(422, "invalid_request")


def test_an_unknown_permit_says_what_to_look_for(service: Service, name: str) -> None:
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@example.com"]})
    sender = service.client("send", redeem="optional", name=f"s-{name}")
    asked = {"customer_id": name, "event_type": "t", "event_id": "1"}
    granted = sender.ask("notification", **asked).ok(201)
    sender.report(granted["permit_id"], "unknown").ok()
    query = {"state": "unknown", "sender": sender.name}
    [item] = service.get("/v1/permits", **query).ok()["items"]
    assert item["permit_id"] == granted["permit_id"]
    assert item["sender"] == sender.name
    assert item["message_id"] == granted["message_id"]
    assert item["to"] == f"{name}@example.com"
    [seen] = service.client("audit").get("/v1/permits", **query).ok()["items"]
    assert seen["sender"] == sender.name
    assert seen.get("to") is None


def test_permits_and_decisions_are_filtered_by_sender_kind_and_time(
    service: Service, name: str
) -> None:
    sender = service.client("send", redeem="optional", name=f"s-{name}")
    asked = {"customer_id": name, "event_type": "t"}
    first = sender.ask("notification", **asked, event_id="1").ok(201)["permit_id"]
    between = service.advance(minutes=5)
    digest = {"customer_id": name, "inbox_id": name, "date": "2026-12-04"}
    second = sender.ask("digest", **digest).ok(201)["permit_id"]

    def permits(**query: Any) -> set[str]:
        items = service.get("/v1/permits", sender=sender.name, **query).ok()["items"]
        return {item["permit_id"] for item in items}

    assert permits() == {first, second}
    assert permits(kind="digest") == {second}
    assert permits(to=between.isoformat()) == {first}
    assert permits(from_=between.isoformat()) == {second}
    assert permits(state="granted", from_=(between + timedelta(days=1)).isoformat()) == set()
    assert permits(state="granted", kind="notification") == {first}
    kinds = service.get("/v1/decisions", sender=sender.name, kind="digest").ok()["items"]
    assert [row["decision_id"] for row in kinds] == [second]


def test_alerts_are_acknowledged_up_to_the_last_one_seen(service: Service, name: str) -> None:
    for letter in "abc":
        _flood(service, f"{name}-{letter}")
    ids = {
        letter: service.alerts("breaker_opened", f"{name}-{letter}")[0]["alert_id"]
        for letter in "abc"
    }

    def acked(letter: str) -> str | None:
        by: str | None = service.alerts("breaker_opened", f"{name}-{letter}")[0]["acked_by"]
        return by

    named = {"alert_ids": [ids["a"], 10**9], "by": "ann"}
    assert service.post("/v1/alerts/ack", named).ok()["acked"] == 1
    other = {"up_to": ids["b"], "kind": "loop_guard"}
    service.post("/v1/alerts/ack", other).ok()
    assert (acked("a"), acked("b")) == ("ann", None)
    assert service.post("/v1/alerts/ack", {"up_to": ids["b"], "by": "bob"}).ok()["acked"] >= 1
    assert (acked("a"), acked("b"), acked("c")) == ("ann", "bob", None)
    for wrong in ({}, {"alert_ids": [1], "up_to": 1}, {"up_to": 0}, {"alert_ids": ["1"]}):
        service.post("/v1/alerts/ack", wrong).no(422, "invalid_request")
