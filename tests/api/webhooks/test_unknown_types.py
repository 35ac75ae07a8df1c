"""Event types that nobody knows: near money they alert and are kept, elsewhere they are counted."""

import json
from typing import Any

import pytest

from tests.api.webhooks.posting import signed
from tests.support.service import Service

MONEY = {
    "stripe": {"id": "evt_1", "type": "invoice.teleported", "created": 1700000000},
    "chargebee": {
        "id": "ev_1",
        "event_type": "credit_note_teleported",
        "occurred_at": 1700000000,
        "content": {},
    },
    "recurly": {"id": "r_1", "object_type": "surcharge", "event_type": "created"},
}
NOWHERE = {
    "stripe": {"id": "evt_1", "type": "brand_new.thing", "created": 1700000000},
    "chargebee": {
        "id": "ev_1",
        "event_type": "brandnew_thing",
        "occurred_at": 1700000000,
        "content": {},
    },
    "recurly": {"id": "r_1", "object_type": "brand_new_thing", "event_type": "created"},
}
HARMLESS = {
    "stripe": {"id": "evt_1", "type": "product.created", "created": 1700000000},
    "chargebee": {"id": "ev_1", "event_type": "subscription_renewed", "occurred_at": 1},
    "recurly": {"id": "r_1", "object_type": "subscription", "event_type": "renewed"},
    "commune": {"data": [{"event_type": "opened"}]},
    "resend": {"type": "email.teleported", "data": {}},
    "postmark": {"RecordType": "Teleported", "MessageID": "m"},
    "sendgrid": [{"event": "teleported", "sg_event_id": "s"}],
    "mailgun": {"event-data": {"event": "teleported", "id": "m"}},
}


def counted(hooks: Service, provider: str, result: str, reason: str) -> float:
    """The metric of posts with this result."""
    name = (
        f'send_ledger_webhooks_total{{provider="{provider}",reason="{reason}",result="{result}"}}'
    )
    lines = hooks.call("GET", "/metrics").text.splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(name)), 0.0)


@pytest.mark.parametrize("events", [MONEY, NOWHERE], ids=["money", "no family"])
@pytest.mark.parametrize("provider", MONEY)
def test_near_money_it_alerts_and_is_kept(
    hooks: Service, events: dict[str, Any], provider: str
) -> None:
    before = counted(hooks, provider, "rejected", "unknown_money_event")
    answer = signed(provider, json.dumps(events[provider]).encode(), hooks.clock).to(hooks).ok()
    assert (answer["results"], answer["rejected"]) == ([], 1)
    assert counted(hooks, provider, "rejected", "unknown_money_event") == before + 1
    alerts = [a["dedupe_key"] for a in hooks.alerts("ingest_rejected")]
    assert alerts.count(f"ingest_rejected:{provider}:unknown_money_event:1") == 1
    kept = hooks.get("/v1/webhooks/rejected", provider=provider, kind="unknown_money_event").ok()
    assert kept["items"]


@pytest.mark.parametrize("provider", HARMLESS)
def test_elsewhere_it_is_counted_and_ignored(hooks: Service, provider: str) -> None:
    before = counted(hooks, provider, "ignored", "irrelevant_event")
    alerts = len(hooks.alerts("ingest_rejected"))
    body = json.dumps(HARMLESS[provider]).encode()
    answer = signed(provider, body, hooks.clock).to(hooks).ok()
    assert (answer["results"], answer["ignored"], answer["rejected"]) == ([], "irrelevant_event", 0)
    assert counted(hooks, provider, "ignored", "irrelevant_event") == before + 1
    assert len(hooks.alerts("ingest_rejected")) == alerts


def test_metrics_carry_no_address_and_no_id(hooks: Service, mark: str) -> None:
    event = {"type": "x", "data": {"object": {"id": f"in_{mark}", "email": f"{mark}@x.example"}}}
    signed("stripe", json.dumps(event).encode(), hooks.clock).to(hooks).ok()
    signed("stripe", b"no json", hooks.clock).to(hooks).ok()
    metrics = hooks.call("GET", "/metrics").text
    assert "@" not in metrics
    assert mark not in metrics
    assert counted(hooks, "stripe", "rejected", "malformed_json") >= 1
