"""`send.observed` over HTTP: each kind by the fields of its request, and what mails carry (D13)."""

from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Service


def told(service: Service, name: str, **fields: Any) -> dict[str, Any]:
    """The result of one `send.observed` of an hour ago."""
    at = (service.clock - timedelta(hours=1)).isoformat()
    data = {"customer_id": name, "at": at} | fields
    event = {"id": "sent", "source": name, "type": "send.observed", "data": data}
    answer = service.post("/v1/facts", {"facts": [event]}).ok()
    result: dict[str, Any] = answer["results"][0]
    return result


KINDS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "payment_failed": (
        {"invoice_id": "{}", "event_id": "evt", "attempt_id": "att"},
        {"invoice_id": "{}", "event_id": "another", "attempt_id": "att"},
        "already_sent",
    ),
    "notification": (
        {"event_type": "shipped", "event_id": "ord"},
        {"event_type": "shipped", "event_id": "ord", "customer_id": "{}"},
        "already_sent",
    ),
    "digest": (
        {"inbox_id": "inb", "date": "2026-12-01"},
        {"inbox_id": "inb", "date": "2026-12-01", "customer_id": "{}"},
        "already_sent",
    ),
    "follow_up": (
        {"thread_id": "{}", "step": 1},
        {"thread_id": "{}", "step": 1, "customer_id": "{}"},
        "already_sent",
    ),
    "message": (
        {"thread_id": "{}", "intent": "welcome"},
        {"thread_id": "{}", "intent": "welcome", "customer_id": "{}"},
        "duplicate_intent",
    ),
    "reply": (
        {"thread_id": "{}", "in_reply_to": "<{}@example.com>"},
        {"thread_id": "{}", "in_reply_to": "<{}@example.com>"},
        "already_replied",
    ),
    "reminder": (
        {"invoice_id": "{}", "stage": "day-3"},
        {"invoices": ["{}"], "stage": "day-3"},
        "already_sent",
    ),
}


def named(fields: Any, name: str) -> Any:
    """The fields with the test's own name put in."""
    if isinstance(fields, dict):
        return {key: named(value, name) for key, value in fields.items()}
    if isinstance(fields, list):
        return [named(value, name) for value in fields]
    return fields.replace("{}", name) if isinstance(fields, str) else fields


@pytest.mark.parametrize("kind", KINDS)
def test_a_mail_of_a_kind_uses_up_its_send(service: Service, name: str, kind: str) -> None:
    sent, asked, code = KINDS[kind]
    due = (service.clock - timedelta(days=4)).date().isoformat()
    service.put_invoice(name, customer_id=name, due_on=due).ok()
    question = {"thread_id": name, "message_id": f"<{name}@example.com>", "direction": "inbound"}
    if kind == "reply":
        at = (service.clock - timedelta(hours=2)).isoformat()
        question |= {"from": f"{name}@example.com", "at": at, "customer_id": name}
        service.fact("thread.message", question)
    assert told(service, name, kind=kind, **named(sent, name))["result"] == "applied"
    denied = service.ask(kind, **named(asked, name)).no(409, code)
    assert denied["original"]["sender"] == f"observed:{name}"
    assert told(service, name, kind=kind, **named(sent, name))["result"] == "duplicate"


def test_an_apology_of_a_kind_uses_up_its_send(service: Service, name: str) -> None:
    incident = {"title": name, "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"}
    declared = service.post("/v1/incidents", incident | {"cause": "a bug"}).ok(201)
    fields = {"incident_id": declared["incident_id"]}
    assert told(service, name, kind="apology", **fields)["result"] == "applied"
    service.ask("apology", customer_id=name, **fields).no(409, "apology_already_sent")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"kind": "notification", "event_type": "shipped"}, "needs event_id"),
        ({"kind": "digest"}, "needs inbox_id and date"),
        ({"kind": "reminder"}, "needs invoice_id"),
        ({"kind": "follow_up", "step": 1}, "needs thread_id"),
        ({"kind": "reply", "thread_id": "t"}, "needs in_reply_to"),
        ({"kind": "of_no_kind"}, "kind"),
        ({"event_type": "shipped", "event_id": "o"}, "name the kind"),
        ({"kind": "digest", "inbox_id": "i", "date": "1 December"}, "date"),
        ({"send_token": "none-of-ours-0123456789abcdef"}, "send_token"),
        ({"send_token": ""}, "send_token"),
    ],
)
def test_what_names_no_send_is_rejected(
    service: Service, name: str, fields: dict[str, Any], why: str
) -> None:
    result = told(service, name, **fields)
    assert result["result"] == "rejected"
    assert why in result["detail"]


def test_what_a_mail_carries_settles_the_permit_that_is_known(service: Service, name: str) -> None:
    asked = {"event_type": "shipped", "event_id": "ord", "customer_id": name}
    permit = service.ask("notification", **asked).ok(201)
    assert permit["send_token"].startswith(permit["permit_id"].replace("-", ""))
    assert len(permit["message_id"]) <= 257
    assert told(service, name, send_token=permit["send_token"])["result"] == "applied"
    found = service.get(f"/v1/permits/{permit['permit_id']}").ok()
    assert found["state"] == "sent"
    customer = service.get(f"/v1/customers/{name}").ok()
    assert customer["windows"]["outreach_24h"]["used"] == 1
    recovery = service.get("/v1/control").ok()["recovery"]
    assert recovery is None


def test_a_delivery_by_the_token_alone_settles_the_permit(service: Service, name: str) -> None:
    asked = {"event_type": "shipped", "event_id": "ord", "customer_id": name}
    permit = service.ask("notification", **asked).ok(201)
    word = {"provider": "own", "event": "delivered", "send_token": permit["send_token"]}
    service.fact("delivery", word)
    assert service.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "sent"


def test_the_message_id_of_many_invoices_has_what_fits(service: Service, name: str) -> None:
    due = (service.clock - timedelta(days=4)).date().isoformat()
    invoices = [f"{name}-{number}" for number in range(40)]
    for invoice_id in invoices:
        service.put_invoice(invoice_id, customer_id=name, due_on=due).ok()
    permit = service.ask("reminder", invoices=invoices).ok(201)
    assert len(permit["message_id"]) <= 257
    assert len(permit["send_token"].split()) == 40
    assert service.redeem(permit["permit_id"]).ok()["send_token"] == permit["send_token"]
