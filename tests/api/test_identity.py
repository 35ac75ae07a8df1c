"""One mailbox is one customer over HTTP, by whichever of id and address it is asked for (D9)."""

from typing import Any

import pytest

from tests.support.service import Answer, Service


def _notify(service: Service, number: int, **whom: Any) -> Answer:
    event = {"event_type": "shipped", "event_id": str(number)}
    return service.ask("notification", **event, **whom)


def _sent(service: Service, answer: Answer) -> Answer:
    service.report(answer.ok(201)["permit_id"], "sent").ok()
    return answer


@pytest.mark.parametrize("first", ["address", "both", "thread", "digest"])
@pytest.mark.parametrize("second", ["address", "both"])
@pytest.mark.parametrize("third", ["address", "both"])
def test_a_mailbox_gets_two_mails_a_day_in_any_order(
    service: Service, name: str, first: str, second: str, third: str
) -> None:
    email = f"{name}@example.com"
    both = {"customer_id": name, "to": email}
    asked: dict[str, Any] = {
        "address": lambda n: _notify(service, n, to=email.upper()),
        "both": lambda n: _notify(service, n, **both),
        "thread": lambda n: service.ask("message", thread_id=name, intent="hello", **both),
        "digest": lambda n: service.ask("digest", inbox_id=name, date="2026-12-04", **both),
    }
    for number, kind in enumerate((first, second)):
        _sent(service, asked[kind](number))
    asked[third](3).no(429, "cap_reached")
    for kind in ("address", "both"):
        asked[kind](4).no(409, "breaker_open")
    opened = [a for a in service.alerts("breaker_opened") if name in str(a)]
    known = {first, second, third} != {"address"}
    assert len(opened) == (1 if known else 0)


def test_who_was_known_by_address_is_the_customer_who_is_named_with_it(
    service: Service, name: str
) -> None:
    email = f"{name}@example.com"
    before = _sent(service, _notify(service, 1, to=email))["customer_id"]
    assert before.startswith("adr_")
    answer = _sent(service, _notify(service, 2, customer_id=name, to=email))
    assert answer["windows"]["outreach_24h"] == {"used": 2, "limit": 2}
    for customer_id in (before, name):
        customer = service.get(f"/v1/customers/{customer_id}").ok()
        assert (customer["customer_id"], customer["addresses"]) == (name, [email])
        assert customer["windows"]["outreach_24h"]["used"] == 2
    assert _notify(service, 1, customer_id=name).no(409, "already_sent")["original"]


def test_an_address_that_is_named_first_with_an_id_is_that_customers(
    service: Service, name: str
) -> None:
    email = f"{name}@example.com"
    _sent(service, _notify(service, 1, customer_id=name, to=email))
    assert service.get(f"/v1/customers/{name}").ok()["addresses"] == [email]
    assert _sent(service, _notify(service, 2, to=email))["customer_id"] == name


def test_a_message_that_rides_with_a_reply_says_whose_address_it_is(
    service: Service, name: str
) -> None:
    email = f"{name}@example.com"
    for number in (1, 2):
        _sent(service, _notify(service, number, to=email))
    message = {
        "thread_id": name,
        "message_id": f"<1.{name}@example.com>",
        "direction": "inbound",
        "from": email,
        "to": "us@example.net",
        "customer_id": name,
    }
    told: dict[str, Any] = {"in_reply_to": message["message_id"], "message": message}
    assert _sent(service, service.ask("reply", thread_id=name, **told))["customer_id"] == name
    service.ask("follow_up", thread_id=name, step=1).no(429, "cap_reached")


def test_two_billing_customers_at_one_address_are_kept_apart_and_told_of_once(
    service: Service, name: str
) -> None:
    email = f"{name}@example.com"
    service.fact("customer.observed", {"customer_id": f"{name}-a", "emails": [email]})
    for number in (1, 2):
        answer = _sent(service, _notify(service, number, customer_id=f"{name}-b", to=email))
        assert answer["customer_id"] == f"{name}-b"
    assert len(service.alerts("shared_address", f"{name}-b")) == 1
    service.fact("customer.merged", {"from": f"{name}-b", "into": f"{name}-a"})
    _notify(service, 3, to=email).no(429, "cap_reached")


def test_these_decisions_are_explained_as_they_were_taken(service: Service, name: str) -> None:
    email = f"{name}@example.com"
    both = {"customer_id": name, "to": email}
    answers = [
        _sent(service, _notify(service, 1, to=email)),
        _sent(service, _notify(service, 2, **both)),
        _notify(service, 3, to=email).no(429, "cap_reached"),
        _notify(service, 4, **both).no(409, "breaker_open"),
    ]
    other = {"customer_id": f"{name}-2", "to": f"2.{email}"}
    answers += [
        _sent(service, _notify(service, 1, **other)),
        _sent(service, _notify(service, 2, to=other["to"])),
        _notify(service, 3, **other).no(429, "cap_reached"),
    ]
    third = f"3.{email}"
    for number in (1, 2):
        answers.append(_sent(service, _notify(service, number, to=third)))
    answers.append(_notify(service, 3, customer_id=f"{name}-3", to=third).no(429, "cap_reached"))
    for answer in answers:
        found = service.get(f"/v1/decisions/{answer['decision_id']}").ok()
        assert found["explanation"]["reproduced"] is True, found.body


def test_a_list_of_addresses_is_no_address(service: Service, name: str) -> None:
    """Each list would be somebody new, and every mailbox in it past its cap."""
    for number, between in enumerate((",", ";")):
        several = f"{name}@example.com{between}kim@example.com"
        _notify(service, number, to=several).no(422, "invalid_request")


def test_a_character_that_nobody_sees_makes_no_other_mailbox(service: Service, name: str) -> None:
    for number, spelling in enumerate((f"{name}@example.com", f"\u200b{name}@example.com")):
        _sent(service, _notify(service, number, to=spelling))
    _notify(service, 3, to=f'"{name}"@example.com').no(429, "cap_reached")


def test_made_up_customers_do_not_flood_a_mailbox(service: Service, name: str) -> None:
    email = f"{name}@example.com"
    first = _notify(service, 0, customer_id=name, to=email, redeem=True)
    second = _notify(service, 1, customer_id=f"{name}-1", to=email, redeem=True).ok(201)
    assert second["copies"] == [{"customer_id": name}]
    denied = _notify(service, 2, customer_id=f"{name}-2", to=email).no(429, "cap_reached")
    assert denied["detail"].startswith(f"the address of customer {name}: ")
    service.report(first.ok(201)["permit_id"], "rejected").ok()
    _notify(service, 2, customer_id=f"{name}-2", to=email).ok(201)
    assert service.alerts("breaker_opened", name) == []
