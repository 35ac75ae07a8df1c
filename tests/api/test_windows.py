"""What a sender's key may read of a customer: what is left in the windows, and nothing personal."""

from datetime import timedelta

from tests.support.service import Service


def test_a_sender_reads_what_is_left(service: Service, name: str) -> None:
    sender = service.client("send", redeem="optional")
    path = f"/v1/customers/{name}/windows"
    sender.get(path).no(404, "unknown_customer")
    service.fact("customer.observed", {"customer_id": name, "emails": [f"{name}@x.example"]})
    sender.ask("notification", customer_id=name, event_type="x", event_id="1").ok(201)
    granted_at = service.clock
    service.advance(hours=1)
    told = sender.get(path).ok()
    assert told.body.keys() == {"customer_id", "breaker", "windows", "position"}
    assert (told["customer_id"], told["breaker"]) == (name, None)
    frees_at = (granted_at + timedelta(minutes=10, hours=24)).isoformat().replace("+00:00", "Z")
    assert told["windows"]["outreach_24h"] == {
        "used": 1,
        "limit": 2,
        "left": 1,
        "frees_at": frees_at,
    }
    assert told["windows"]["replies_24h"] == {"used": 0, "limit": 30, "left": 30, "frees_at": None}
    assert told["windows"]["transactional_24h"]["left"] == 20
    assert f"{name}@x.example" not in told.text


def test_nothing_is_left_and_the_breaker_is_told(service: Service, name: str) -> None:
    sender = service.client("send", redeem="optional")
    for event in ("1", "2"):
        sender.ask("notification", customer_id=name, event_type="x", event_id=event).ok(201)
    third = sender.ask("notification", customer_id=name, event_type="x", event_id="3")
    third.no(429, "cap_reached")
    told = sender.get(f"/v1/customers/{name}/windows").ok()
    assert (told["windows"]["outreach_24h"]["left"], told["breaker"]) == (0, "outreach")


def test_an_id_with_a_slash_and_one_that_was_merged(service: Service, name: str) -> None:
    old, new = f"{name}/old", f"{name}/new"
    for customer_id in (old, new):
        service.fact("customer.observed", {"customer_id": customer_id, "emails": []})
    service.ask("notification", customer_id=old, event_type="x", event_id="1").ok(201)
    service.fact("customer.merged", {"from": old, "into": new})
    for customer_id in (old, new):
        told = service.get(f"/v1/customers/{customer_id}/windows").ok()
        assert (told["customer_id"], told["windows"]["outreach_24h"]["used"]) == (customer_id, 1)
