"""A key of the scope `send` lets facts ride along that could harm somebody; none is kept."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support.service import Answer, Client, Service

EVIL = "evil@attacker.example"
GRANTED, DENIED = "granted", "denied"
"""Whether the request would be granted or denied as the ledger stands."""


def _snapshot(service: Service, name: str, **fields: Any) -> dict[str, Any]:
    due_on = (service.clock - timedelta(days=9)).date().isoformat()
    return {
        "customer_id": name,
        "email": f"{name}@x.example",
        "currency": "USD",
        "total": 30_000,
        "amount_remaining": 30_000,
        "status": "open",
        "due_on": due_on,
    } | fields


@pytest.fixture
def agent(service: Service, name: str) -> Client:
    """A key of the scope send; an invoice of a customer with an address is on record."""
    service.call("PUT", f"/v1/invoices/{name}", _snapshot(service, name)).ok()
    return service.client("send")


HARMFUL: dict[str, dict[str, Any]] = {
    "an attacker's address": {"email": EVIL},
    "no address": {"email": None},
    "paid": {"status": "paid", "amount_remaining": 0},
    "paid, and its amount left": {"status": "paid"},
    "void": {"status": "void"},
    "written off": {"status": "uncollectible"},
    "a draft": {"status": "draft"},
    "less": {"amount_remaining": 1},
    "another currency": {"currency": "JPY"},
    "another owner": {"customer_id": "somebody-else"},
    "the attacker as the owner": {"customer_id": "attacker", "email": EVIL},
    "as of a time to come": {"observed_at": "2031-01-01T00:00:00Z"},
    "all at once": {"customer_id": "attacker", "email": EVIL, "status": "paid", "currency": "EUR"},
}


@pytest.mark.parametrize("otherwise", [GRANTED, DENIED])
@pytest.mark.parametrize("what", HARMFUL)
def test_a_harmful_snapshot_changes_nothing(
    what: str, otherwise: str, service: Service, agent: Client, name: str
) -> None:
    if otherwise == DENIED:
        service.remind(name).ok(201)
    before = _on_record(service, name)
    told = _snapshot(service, name, **HARMFUL[what])
    for ask in (agent.remind, _payment_failed(agent)):
        answer = ask(name, facts={name: told})
        assert answer.status in (403, 404, 409), answer.text
        if answer.status == 403:
            answer.no(403, "riding_facts_refused")
        else:
            assert answer.headers["ledger-warning"] == "riding-facts-not-kept"
    assert _on_record(service, name) == before
    assert not _addresses_on_file(service, EVIL)


def _payment_failed(client: Client) -> Any:
    def ask(invoice_id: str, **more: Any) -> Answer:
        return client.ask("payment_failed", invoice_id=invoice_id, event_id="evt", **more)

    return ask


def test_the_same_in_a_batch_and_at_once(service: Service, agent: Client, name: str) -> None:
    before = _on_record(service, name)
    asked = [
        {
            "kind": "reminder",
            "invoices": [name],
            "redeem": redeem,
            "facts": {name: _snapshot(service, name, **harm)},
        }
        for harm in HARMFUL.values()
        for redeem in (False, True)
    ]
    results = agent.post("/v1/permits/batch", {"requests": asked}).ok()["results"]
    assert {item["status"] for item in results} <= {403, 409}
    assert _on_record(service, name) == before


@pytest.mark.parametrize("scopes", [("send",), ("send", "operate", "audit", "admin")])
def test_only_the_scope_facts_is_believed(
    scopes: tuple[str, ...], service: Service, agent: Client, name: str
) -> None:
    paid = _snapshot(service, name, status="paid", amount_remaining=0)
    asked = service.client(*scopes).remind(name, facts={name: paid})
    asked.no(409, "nothing_owed")
    assert asked.headers["ledger-warning"] == "riding-facts-not-kept"
    assert service.get(f"/v1/invoices/{name}").ok()["status"] == "open"
    believed = service.client("send", "facts").remind(name, facts={name: paid})
    believed.no(409, "nothing_owed")
    assert "ledger-warning" not in believed.headers
    assert service.get(f"/v1/invoices/{name}").ok()["status"] == "paid"


def test_a_poller_of_the_scope_send_needs_one_call(service: Service, name: str) -> None:
    poller = service.client("send")
    early = {"due_on": service.clock.date().isoformat()}
    first = poller.remind(name, facts={name: _snapshot(service, name, **early)})
    first.no(409, "not_past_due")
    service.get(f"/v1/invoices/{name}").no(404, "unknown_invoice")
    assert not _addresses_on_file(service, f"{name}@x.example")
    permit = poller.remind(name, facts={name: _snapshot(service, name)}, redeem=True).ok(201)
    assert (permit["to"], permit["state"]) == (f"{name}@x.example", "redeemed")
    assert service.get(f"/v1/customers/{name}").ok()["addresses"] == [f"{name}@x.example"]
    poller.report(permit["permit_id"], "sent").ok()


def test_a_new_invoice_takes_no_customer_over(service: Service, agent: Client, name: str) -> None:
    before = _on_record(service, name)
    other = f"{name}-new"
    told = _snapshot(service, name, email=EVIL)
    agent.remind(other, facts={other: told}).no(403, "riding_facts_refused")
    service.get(f"/v1/invoices/{other}").no(404, "unknown_invoice")
    assert _on_record(service, name) == before


def _message(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "thread_id": f"{name}-thread",
        "message_id": f"<{name}@x.example>",
        "direction": "inbound",
        "from": f"{name}@x.example",
        "to": "us@example.org",
        "customer_id": name,
    } | fields


MESSAGES: dict[str, dict[str, Any]] = {
    "another customer's": {"customer_id": "attacker", "from": EVIL},
    "from an attacker": {"from": EVIL},
    "to be answered elsewhere": {"reply_to": EVIL},
    "a bounce": {"headers": {"Content-Type": "multipart/report; report-type=delivery-status"}},
    "one of ours": {"direction": "outbound", "references": ["<other@x.example>"]},
}


@pytest.mark.parametrize("what", MESSAGES)
def test_a_message_changes_no_customer(
    what: str, service: Service, agent: Client, name: str
) -> None:
    service.fact("thread.message", _message(name))
    before = _on_record(service, name)
    told = _message(name, message_id=f"<{name}-2@x.example>", **MESSAGES[what])
    asked = {"thread_id": f"{name}-thread", "in_reply_to": f"<{name}-2@x.example>"}
    answer = agent.ask("reply", **asked, message=told)
    after = _on_record(service, name)
    if answer.status == 201:
        assert answer["customer_id"] == name
        assert after["customer"]["addresses"] == before["customer"]["addresses"]
        assert after["invoice"] == before["invoice"]
    else:
        assert answer.status in (403, 409), answer.text
        assert after == before


def test_a_key_may_choose_to_be_believed_less(service: Service, agent: Client, name: str) -> None:
    facts = {name: _snapshot(service, name)}
    mute = service.client("send", "facts", riding="none")
    mute.remind(name, facts=facts).no(403, "riding_facts_refused")
    careful = service.client("send", "facts", riding="own")
    less = {name: _snapshot(service, name, amount_remaining=1)}
    refused = careful.remind(name, facts=less).no(403, "riding_facts_refused")
    decision = service.get(f"/v1/decisions/{refused['decision_id']}").ok()
    assert (decision["status"], decision["code"]) == (403, "riding_facts_refused")
    careful.remind(name, facts=facts).ok(201)


def _on_record(service: Service, name: str) -> dict[str, Any]:
    customer = service.get(f"/v1/customers/{name}").ok().body
    invoice = service.get(f"/v1/invoices/{name}").ok().body
    events = service.get("/v1/events", customer_id=name, limit=1000).ok()["items"]
    return {
        "customer": {k: v for k, v in customer.items() if k != "position"},
        "invoice": {k: v for k, v in invoice.items() if k != "position"},
        "events": [event["position"] for event in events],
    }


def _addresses_on_file(service: Service, text: str) -> list[Any]:
    with psycopg.connect(service.database) as db:
        return db.execute("SELECT 1 FROM contacts WHERE address = %s", [text]).fetchall()
