"""Every kind of permit: what its send key is, whom it goes to, and what forbids it."""

import hashlib
import re
from datetime import date, timedelta
from typing import Any

import pytest

from ledger.application.kinds.message import intent_key
from ledger.domain.sendkey import provider_idempotency_key
from tests.support.service import Service

_DAY = timedelta(days=1)


def _ago(service: Service, days: int) -> str:
    return (service.clock - days * _DAY).date().isoformat()


def _message(service: Service, name: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """An inbound message of a person."""
    return {
        "thread_id": name,
        "message_id": f"<{number}.{name}@example.com>",
        "direction": "inbound",
        "from": f"{name}@example.com",
        "to": "us@example.net",
        "at": service.clock.isoformat(),
    } | fields


def test_the_201_has_every_field_of_the_contract(service: Service, name: str) -> None:
    email = f"Pat.{name}@example.com"
    for part in ("a", "b"):
        service.put_invoice(
            f"{name}-{part}", customer_id=name, email=email, due_on=_ago(service, 8)
        ).ok()
    service.put_invoice(f"{name}-c", customer_id=name, amount_remaining=0).ok()
    invoices = [f"{name}-{part}" for part in "abc"]
    permit = service.ask("reminder", invoices=invoices, stage="day-7").ok(201)
    assert {name: permit[name] for name in ("state", "kind", "customer_id", "to")} == {
        "state": "granted",
        "kind": "reminder",
        "customer_id": name,
        "to": email,
    }
    item = {"cycle": 1, "stage": "day-7", "supersedes": ["day-3"], "amount_remaining": 30_000}
    told = {"currency": "USD", "observed_at": service.clock.isoformat().replace("+00:00", "Z")}
    assert permit["items"] == [
        {"invoice_id": invoice_id} | item | told for invoice_id in invoices[:2]
    ]
    (withheld,) = permit["withheld"]
    assert (withheld["invoice_id"], withheld["code"]) == (invoices[2], "nothing_owed")
    now = service.clock
    assert permit["granted_at"] == now.isoformat().replace("+00:00", "Z")
    assert permit["send_by"] == (now + timedelta(minutes=10)).isoformat().replace("+00:00", "Z")
    assert re.fullmatch(r"[0-9a-f]{48}", permit["provider_idempotency_key"])
    assert re.fullmatch(r"<[^<>@\s]+@[^<>@\s]+>", permit["message_id"])
    assert permit["windows"]["outreach_24h"] == {"used": 1, "limit": 2}
    assert int(permit["position"]) > 0
    assert service.get(f"/v1/decisions/{permit['decision_id']}").ok()["status"] == 201
    read = service.get(f"/v1/permits/{permit['permit_id']}").ok()
    assert {field: read[field] for field in permit.body} == permit.body


def test_the_providers_key_comes_from_the_send_key_alone(service: Service, name: str) -> None:
    first = service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    key = provider_idempotency_key((intent_key(name, "x"),), 0)
    assert first["provider_idempotency_key"] == key
    assert len(key) == 48 < len(hashlib.sha256().hexdigest())
    service.report(first["permit_id"], "rejected").ok()
    second = service.ask("message", thread_id=name, intent="x").ok(201)
    assert second["provider_idempotency_key"] == provider_idempotency_key(
        (intent_key(name, "x"),), 1
    )
    assert second["message_id"] != first["message_id"]


def test_a_reminder_without_a_stage_takes_the_due_one(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=_ago(service, 14)).ok()
    assert service.remind(name).ok(201)["items"][0]["stage"] == "day-14"


def test_a_reminder_is_of_one_customer(service: Service, name: str) -> None:
    for part in ("a", "b"):
        service.put_invoice(f"{name}-{part}", due_on=_ago(service, 4)).ok()
    asked = service.ask("reminder", invoices=[f"{name}-a", f"{name}-b"])
    asked.no(422, "invalid_request")
    assert service.stages(f"{name}-a")["day-3"] == "due"


def test_if_no_invoice_passes_the_code_is_the_firsts(service: Service, name: str) -> None:
    service.put_invoice(f"{name}-a", customer_id=name, amount_remaining=0).ok()
    service.put_invoice(f"{name}-b", customer_id=name, due_on=_ago(service, 1)).ok()
    invoices = [f"{name}-b", f"{name}-a", f"{name}-none"]
    problem = service.ask("reminder", invoices=invoices, stage="day-3").no(409, "not_reached")
    codes = [(w["invoice_id"], w["code"]) for w in problem["withheld"]]
    assert codes == list(
        zip(invoices, ["not_reached", "nothing_owed", "unknown_invoice"], strict=True)
    )
    asked = service.ask("reminder", invoices=invoices[::-1], stage="day-3")
    asked.no(404, "unknown_invoice")


EXPECTED: dict[str, tuple[dict[str, int], str | None]] = {
    "both right": ({"cycle": 1, "amount_remaining": 30_000}, None),
    "the cycle alone": ({"cycle": 1}, None),
    "nothing": ({}, None),
    "another cycle": ({"cycle": 2, "amount_remaining": 30_000}, "stale_cycle"),
    "another amount": ({"cycle": 1, "amount_remaining": 29_999}, "amount_changed"),
    "amount alone": ({"amount_remaining": 0}, "amount_changed"),
}


@pytest.mark.parametrize(("expected", "code"), EXPECTED.values(), ids=EXPECTED)
def test_a_stale_view_is_refused(
    expected: dict[str, int], code: str | None, service: Service, name: str
) -> None:
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    answer = service.remind(name, expected={name: expected})
    if code is None:
        answer.ok(201)
    else:
        assert answer.no(409, code)["retryable"] is False
        service.remind(name).ok(201)


FLOORS = [(30_000, "day-14"), (7_500, "day-14"), (7_499, "day-7"), (3_000, "day-7"), (1, "day-3")]


@pytest.mark.parametrize(("remaining", "stage"), FLOORS)
def test_the_balance_decides_how_harsh_a_reminder_may_be(
    remaining: int, stage: str, service: Service, name: str
) -> None:
    service.put_invoice(name, amount_remaining=remaining, due_on=_ago(service, 20)).ok()
    if stage != "day-14":
        problem = service.remind(name, "day-14").no(409, "balance_below_stage")
        assert problem["retryable"] is True
    assert service.remind(name).ok(201)["items"][0]["stage"] == stage


def test_three_days_lie_between_two_reminders_of_an_invoice(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=_ago(service, 6)).ok()
    permit = service.remind(name).ok(201)
    assert permit["items"][0]["stage"] == "day-3"
    service.report(permit["permit_id"], "sent").ok()
    sent_on = service.clock.date()
    service.advance(days=1)
    problem = service.remind(name, "day-7").no(409, "not_reached")
    free_on = date.fromisoformat(problem["available_at"][:10])
    assert free_on == sent_on + 3 * _DAY
    service.move_clock(problem["available_at"])
    service.remind(name, "day-7").ok(201)


def test_payment_failed_is_once_per_event_and_once_per_attempt(service: Service, name: str) -> None:
    service.put_invoice(name).ok()

    def ask(event: str, attempt: str | None = None) -> Any:
        named = {} if attempt is None else {"attempt_id": attempt}
        return service.ask("payment_failed", invoice_id=name, event_id=event, **named)

    permit = ask("evt_1", "pi_1").ok(201)
    assert (permit["amount_remaining"], permit["currency"]) == (30_000, "USD")
    ask("evt_1").no(409, "permit_held")
    ask("evt_2", "pi_1").no(409, "permit_held")
    service.report(permit["permit_id"], "sent").ok()
    for event, attempt in (("evt_1", "pi_1"), ("evt_1", "pi_9"), ("evt_2", "pi_1")):
        problem = ask(event, attempt).no(409, "already_sent")
        assert problem["original"]["permit_id"] == permit["permit_id"]
    ask("evt_2", "pi_2").ok(201)
    ask("evt_3").no(429, "cap_reached")


def test_payment_failed_needs_an_invoice_that_is_owed(service: Service, name: str) -> None:
    asked = {"invoice_id": name, "event_id": "e"}
    service.ask("payment_failed", **asked).no(404, "unknown_invoice")
    snapshot = {"customer_id": name, "currency": "USD", "total": 5, "amount_remaining": 5}
    rides = {name: snapshot | {"status": "void"}}
    service.ask("payment_failed", **asked, facts=rides).no(409, "voided")
    service.put_invoice(f"{name}-2", amount_remaining=0).ok()
    service.ask("payment_failed", invoice_id=f"{name}-2", event_id="e").no(409, "nothing_owed")


def test_a_reply_answers_a_known_inbound_message_once(service: Service, name: str) -> None:
    asked = {"thread_id": name, "in_reply_to": f"<1.{name}@example.com>"}
    service.ask("reply", **asked).no(404, "unknown_message")
    service.fact("thread.message", _message(service, name))
    permit = service.ask("reply", **asked).ok(201)
    assert permit["to"] == f"{name}@example.com"
    assert permit["windows"]["replies_1h"] == {"used": 1, "limit": 5}
    assert permit["thread_id"] == name
    service.ask("reply", **asked).no(409, "permit_held")
    service.report(permit["permit_id"], "sent").ok()
    problem = service.ask("reply", **asked).no(409, "already_replied")
    assert problem["original"]["permit_id"] == permit["permit_id"]
    other_thread = asked | {"thread_id": f"{name}-other"}
    service.ask("reply", **other_thread).no(409, "already_replied")


def test_a_message_may_ride_along(service: Service, name: str) -> None:
    message = _message(service, name)
    asked = {"thread_id": name, "in_reply_to": message["message_id"], "message": message}
    service.ask("reply", **asked).ok(201)
    service.ask("reply", **asked).no(409, "permit_held")


AUTOMATIC: dict[str, dict[str, Any]] = {
    "Auto-Submitted": {"headers": {"Auto-Submitted": "auto-replied (vacation)"}},
    "Precedence": {"headers": {"precedence": "bulk"}},
    "empty return path": {"return_path": "<>"},
    "delivery report": {"headers": {"Content-Type": "multipart/report; report-type=x"}},
    "list": {"headers": {"List-Id": "<news.example.com>"}},
    "mailer-daemon": {"from": "MAILER-DAEMON@example.com"},
    "vacation": {"headers": {"X-Autoreply": "yes"}},
}


@pytest.mark.parametrize("marks", AUTOMATIC.values(), ids=AUTOMATIC)
def test_a_machine_earns_no_reply(marks: dict[str, Any], service: Service, name: str) -> None:
    message = _message(service, name, customer_id=name) | marks
    asked = {"thread_id": name, "in_reply_to": message["message_id"], "message": message}
    assert service.ask("reply", **asked).no(409, "auto_generated")["retryable"] is False
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["replies_1h"]["used"] == 0


def test_a_person_with_auto_submitted_no_earns_one(service: Service, name: str) -> None:
    message = _message(service, name, headers={"Auto-Submitted": "no"})
    asked = {"thread_id": name, "in_reply_to": message["message_id"], "message": message}
    service.ask("reply", **asked).ok(201)


def test_our_own_mail_earns_no_reply(service: Service, name: str) -> None:
    permit = service.ask("message", thread_id=name, intent="x", customer_id=name).ok(201)
    outbound = _message(service, name, 2, direction="outbound", to=f"{name}@example.com")
    outbound["from"] = "us@example.net"
    asked = {"thread_id": name, "in_reply_to": outbound["message_id"], "message": outbound}
    service.ask("reply", **asked).no(409, "outbound_message")
    back = _message(service, name) | {"message_id": permit["message_id"]}
    asked = {"thread_id": name, "in_reply_to": back["message_id"], "message": back}
    service.ask("reply", **asked).no(409, "own_message")


def test_a_notification_is_once_per_customer_type_and_event(service: Service, name: str) -> None:
    asked = {"customer_id": name, "event_type": "shipped", "event_id": "ord_9"}
    permit = service.ask("notification", **asked).ok(201)
    service.report(permit["permit_id"], "sent").ok()
    service.ask("notification", **asked).no(409, "already_sent")
    noted = asked | {"thread_id": f"{name}-thread"}
    service.ask("notification", **noted).no(409, "already_sent")
    service.ask("notification", **asked | {"customer_id": f"{name}-2"}).ok(201)
    service.ask("notification", **asked | {"event_type": "shipped:ord"}).ok(201)


def test_a_digest_is_once_per_customer_inbox_and_day(service: Service, name: str) -> None:
    asked = {"customer_id": name, "inbox_id": "inb_1", "date": "2026-12-04"}
    service.send("digest", **asked)
    service.ask("digest", **asked).no(409, "already_sent")
    service.ask("digest", **asked, to=f"{name}@example.com").no(409, "already_sent")
    service.ask("digest", **asked | {"date": "2026-12-05"}).ok(201)


def test_an_address_alone_is_a_customer(service: Service, name: str) -> None:
    asked = {"event_type": "t", "to": f"Pat.{name}@Example.com"}
    permit = service.ask("notification", **asked, event_id="1").ok(201)
    assert permit["to"] == f"Pat.{name}@Example.com"
    customer = permit["customer_id"]
    again = asked | {"to": f"pat.{name}@example.com"}
    assert service.ask("notification", **again, event_id="2").ok(201)["customer_id"] == customer
    service.ask("notification", **asked, event_id="3").no(429, "cap_reached")
    assert service.breaker(customer) == "open"


@pytest.mark.parametrize("kind", ["message", "follow_up"])
def test_a_new_thread_needs_somebody_and_a_known_one_ignores_them(
    kind: str, service: Service, name: str
) -> None:
    send = {"intent": "x"} if kind == "message" else {"step": 1}
    other = {"intent": "y"} if kind == "message" else {"step": 2}
    service.ask(kind, thread_id=name, **send).no(404, "unknown_thread")
    permit = service.ask(kind, thread_id=name, **send, customer_id=name).ok(201)
    service.report(permit["permit_id"], "sent").ok()
    duplicate = {"message": "duplicate_intent", "follow_up": "already_sent"}[kind]
    service.ask(kind, thread_id=name, **send).no(409, duplicate)
    elsewhere = {"customer_id": f"{name}-2", "to": f"{name}-2@example.com"}
    service.ask(kind, thread_id=name, **send, **elsewhere).no(409, duplicate)
    second = service.ask(kind, thread_id=name, **other, **elsewhere).ok(201)
    assert second["customer_id"] == name
    assert second["to"] is None


@pytest.mark.parametrize("kind", ["message", "follow_up"])
def test_a_thread_of_one_customer_takes_no_mail_for_another(
    kind: str, service: Service, name: str
) -> None:
    evil, real = f"evil-{name}@example.com", f"real-{name}@example.com"
    service.ask("message", thread_id=name, intent="hi", customer_id=name, to=evil).ok(201)
    send = {"intent": "refund"} if kind == "message" else {"step": 1}
    asked = {"thread_id": name, "customer_id": f"{name}-2", "to": real}
    problem = service.ask(kind, **asked, **send).no(422, "invalid_request")
    assert name in problem["detail"]
    assert evil not in problem.text
    assert real not in problem.text
    assert service.ask(kind, **(asked | {"to": evil}), **send).ok(201)["customer_id"] == name


def test_a_thread_known_by_an_address(service: Service, name: str) -> None:
    permit = service.ask("message", thread_id=name, intent="x", to=f"{name}@example.com").ok(201)
    assert permit["to"] == f"{name}@example.com"
    second = service.ask("message", thread_id=name, intent="y").ok(201)
    assert second["to"] == f"{name}@example.com"


def test_a_key_may_use_its_intents_only(service: Service, name: str) -> None:
    agent = service.client("send", intents=["refund_notice", "invoice_copy"])
    asked = {"thread_id": name, "customer_id": name}
    problem = agent.ask("message", **asked, intent="refund-notice").no(422, "unknown_intent")
    assert problem["retryable"] is False
    agent.ask("message", **asked, intent="refund_notice").ok(201)
    agent.ask("follow_up", **asked, step=1).ok(201)
    none = service.client("send", intents=[])
    none.ask("message", **asked, intent="refund_notice").no(422, "unknown_intent")


def test_a_transactional_key_has_a_ceiling_of_its_own(service: Service, name: str) -> None:
    receipts = service.client("send", **{"class": "transactional"})
    for number in range(20):
        asked = {"customer_id": name, "event_type": "receipt", "event_id": str(number)}
        permit = receipts.ask("notification", **asked).ok(201)
        if number == 0:
            receipts.ask("notification", **asked).no(409, "permit_held")
    assert permit["windows"] == {"transactional_24h": {"used": 20, "limit": 20}}
    asked = {"customer_id": name, "event_type": "receipt"}
    outreach = service.ask("notification", **asked, event_id="ours").ok(201)
    assert outreach["windows"]["outreach_24h"]["used"] == 1
    receipts.ask("notification", **asked, event_id="20").no(429, "cap_reached")
    receipts.ask("notification", **asked, event_id="21").no(409, "breaker_open")
    customer = service.get(f"/v1/customers/{name}").ok()
    assert (customer["breaker"]["state"], customer["breaker"]["scope"]) == ("open", "all")


def test_a_transactional_key_passes_an_outreach_breaker(service: Service, name: str) -> None:
    receipts = service.client("send", **{"class": "transactional"})
    asked = {"customer_id": name, "event_type": "t"}
    for number in range(3):
        service.ask("notification", **asked, event_id=str(number))
    assert service.breaker(name) == "open"
    receipts.ask("notification", **asked, event_id="receipt").ok(201)


def test_an_apology_needs_an_incident_and_a_customer(service: Service, name: str) -> None:
    asked = {"incident_id": name, "customer_id": name}
    service.ask("apology", **asked).no(404, "unknown_incident")
