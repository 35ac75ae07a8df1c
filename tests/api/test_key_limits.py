"""An agent's key tries every call of the interface for what it must not see or do.

A new call fails here until somebody says what such a key gets there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.api.routes import ROUTES, Route
from tests.support.service import Answer, Client, Service

NOTHING = "nothing"
"""403: it needs a scope that no agent has, and that limits cannot go with."""
ANYBODY = "anybody"
"""What every key is told, and that is of no customer."""
LIMITED = "limited"
"""What the key may ask for, and no more: `ATTACKS` has what it tries."""
_PERMITS, _DUE = "/v1/permits", "/v1/due"
_LEASE = "/v1/jobs/{job}/lease"

GETS: dict[tuple[str, str], str] = {
    ("PUT", "/v1/invoices/{invoice_id}"): NOTHING,
    ("GET", "/v1/invoices/{invoice_id}"): NOTHING,
    ("POST", "/v1/facts"): NOTHING,
    ("POST", _PERMITS): LIMITED,
    ("POST", _PERMITS + "/batch"): LIMITED,
    ("GET", _PERMITS): LIMITED,
    ("GET", _PERMITS + "/{permit_id}"): LIMITED,
    ("POST", _PERMITS + "/{permit_id}/redeem"): LIMITED,
    ("POST", _PERMITS + "/{permit_id}/outcome"): LIMITED,
    ("POST", _PERMITS + "/redeem"): LIMITED,
    ("POST", _PERMITS + "/outcomes"): LIMITED,
    ("GET", _DUE): LIMITED,
    ("POST", _DUE + "/claim"): LIMITED,
    ("POST", _LEASE): LIMITED,
    ("DELETE", _LEASE): LIMITED,
    ("GET", "/v1/customers/{customer_id}/windows"): LIMITED,
    ("GET", "/v1/customers/{customer_id}"): NOTHING,
    ("POST", "/v1/customers/{customer_id}/breaker/reset"): NOTHING,
    ("POST", "/v1/breakers/reset"): NOTHING,
    ("POST", "/v1/customers/{customer_id}/addresses/release"): NOTHING,
    ("GET", "/v1/control"): NOTHING,
    ("POST", "/v1/control/pause"): NOTHING,
    ("POST", "/v1/control/resume"): NOTHING,
    ("POST", "/v1/control/clock/accept"): NOTHING,
    ("POST", "/v1/control/guard-check"): NOTHING,
    ("POST", "/v1/incidents"): NOTHING,
    ("GET", "/v1/incidents"): NOTHING,
    ("GET", "/v1/incidents/{incident_id}"): NOTHING,
    ("GET", "/v1/incidents/{incident_id}/affected"): NOTHING,
    ("GET", "/v1/incidents/{incident_id}/report"): NOTHING,
    ("POST", "/v1/incidents/{incident_id}/close"): NOTHING,
    ("POST", "/v1/test-clock"): NOTHING,
    ("GET", "/v1/feeds"): NOTHING,
    ("GET", "/v1/alerts"): NOTHING,
    ("POST", "/v1/alerts/ack"): NOTHING,
    ("GET", "/v1/breakers"): NOTHING,
    ("GET", "/v1/invoices"): NOTHING,
    ("POST", "/v1/customers/search"): NOTHING,
    ("POST", "/v1/find"): NOTHING,
    ("GET", "/v1/diagnosis"): NOTHING,
    ("POST", "/v1/alerts/{alert_id}/ack"): NOTHING,
    ("GET", "/v1/decisions"): NOTHING,
    ("GET", "/v1/decisions/{decision_id}"): NOTHING,
    ("GET", "/v1/events"): NOTHING,
    ("GET", "/v1/audit/verify"): NOTHING,
    ("GET", "/v1/reports/effect"): NOTHING,
    ("GET", "/v1/customers/{customer_id}/timeline"): NOTHING,
    ("GET", "/v1/invoices/{invoice_id}/timeline"): NOTHING,
    ("POST", "/v1/customers/{customer_id}/erase"): NOTHING,
    ("GET", "/v1/projections"): NOTHING,
    ("POST", "/v1/projections/{name}/rebuild"): NOTHING,
    ("POST", "/v1/keys"): NOTHING,
    ("GET", "/v1/keys"): NOTHING,
    ("DELETE", "/v1/keys/{key_id}"): NOTHING,
    ("GET", "/v1/policy"): ANYBODY,
    ("GET", "/v1/webhooks/rejected"): NOTHING,
    ("GET", "/v1/webhooks/rejected/{rejected_id}"): NOTHING,
    ("POST", "/v1/webhooks/rejected/{rejected_id}/replay"): NOTHING,
    ("POST", "/v1/webhooks/rejected/{rejected_id}/dismiss"): NOTHING,
    ("GET", "/v1/webhooks/refresh"): NOTHING,
    ("POST", "/v1/webhooks/refresh/{refresh_id}/done"): NOTHING,
}
"""Every call, and what it gives a key with limits; what is limited is attacked below."""


@dataclass(frozen=True)
class Stage:
    """What an attack finds: its own customer and a victim, with an invoice, a thread, a permit.

    `agent` writes and answers mail, `dunner` sends reminders of one stage and reads no address;
    both are for customers of the own name only.
    """

    service: Service
    agent: Client
    dunner: Client
    own: str
    victim: str
    permit: str
    """The victim's, granted to the service's own key."""


@pytest.fixture
def stage(service: Service, name: str) -> Stage:
    """Two customers, nine days past due, each with a thread; and keys for one of them."""
    own, victim = f"own-{name}", f"victim-{name}"
    due = (service.clock - timedelta(days=9)).date().isoformat()
    for who in (own, victim):
        service.put_invoice(f"{who}-inv", customer_id=who, email=f"{who}@x.example", due_on=due)
        message = {"thread_id": f"{who}-thread", "message_id": f"<{who}@x.example>"}
        people = {"from": f"{who}@x.example", "to": "us@example.org", "customer_id": who}
        service.fact("thread.message", message | people | {"direction": "inbound"})
    notice = {"customer_id": victim, "event_type": "shipped", "event_id": name}
    permit = service.client("send").ask("notification", **notice).ok(201)
    service.get(_DUE, after=permit["position"], limit=1).ok()
    agent = service.client("send", intents=["refund_notice"], customers=[f"own-{name}*"])
    limits: dict[str, Any] = {"stages": ["day-7"], "customers": [own], "addresses": False}
    dunner = service.client("send", **limits)
    return Stage(service, agent, dunner, own, victim, permit["permit_id"])


def _victims_kinds(at: Stage) -> dict[str, dict[str, Any]]:
    """A request for each kind of mail to the victim."""
    who = at.victim
    return {
        "reminder": {"invoices": [f"{who}-inv"]},
        "payment_failed": {"invoice_id": f"{who}-inv", "event_id": "evt_1"},
        "reply": {"thread_id": f"{who}-thread", "in_reply_to": f"<{who}@x.example>"},
        "notification": {"customer_id": who, "event_type": "x", "event_id": "1"},
        "digest": {"customer_id": who, "inbox_id": "i", "date": "2026-12-04"},
        "follow_up": {"thread_id": f"{who}-thread", "step": 1},
        "message": {"thread_id": f"{who}-thread", "intent": "refund_notice"},
        "apology": {"customer_id": who, "incident_id": "none"},
    }


def _ask(at: Stage) -> None:
    for kind, fields in _victims_kinds(at).items():
        for key in (at.agent, at.dunner):
            _silent(at, key.ask(kind, **fields).no(403, "key_limit"))
    for kind in ("reminder", "payment_failed", "notification", "digest", "apology"):
        mine = _renamed(_victims_kinds(at)[kind], at.victim, at.own)
        at.agent.ask(kind, **mine).no(403, "key_limit")
    at.agent.ask("message", thread_id=f"{at.own}-thread", intent="x").no(422, "unknown_intent")
    in_disguise = {"customer_id": at.own, "to": f"{at.victim}@x.example"}
    new = at.agent.ask("follow_up", thread_id=f"{at.own}-new", step=1, **in_disguise)
    new.no(403, "key_limit")
    at.dunner.remind(f"{at.own}-inv", "day-3").no(403, "key_limit")
    _ask_with_facts(at)
    at.agent.ask("message", thread_id=f"{at.own}-thread", intent="refund_notice").ok(201)


def _ask_with_facts(at: Stage) -> None:
    """The victim's address comes in a snapshot, and as the writer of a message."""
    theirs, new = f"{at.victim}@x.example", f"{at.own}-new"
    due = (at.service.clock - timedelta(days=9)).date().isoformat()
    snapshot = {"customer_id": at.own, "email": theirs, "currency": "EUR", "total": 10000}
    snapshot |= {"amount_remaining": 10000, "status": "open", "due_on": due}
    asked = {"invoices": [new], "facts": {new: snapshot}}
    at.dunner.ask("reminder", **asked).no(403, "riding_facts_refused")
    message = {"thread_id": new, "message_id": f"<{new}@x.example>", "direction": "inbound"}
    for customer_id in (at.own, new):
        for people in ({"from": theirs}, {"from": f"{new}@x.example", "reply_to": theirs}):
            told = message | people | {"to": "us@example.org", "customer_id": customer_id}
            asked = {"thread_id": new, "in_reply_to": told["message_id"], "message": told}
            at.agent.ask("reply", **asked).no(403, "key_limit")


def _ask_for_many(at: Stage) -> None:
    asked = [{"kind": kind} | fields for kind, fields in _victims_kinds(at).items()]
    answer = at.agent.post(f"{_PERMITS}/batch", {"requests": asked}).ok()
    assert [item["status"] for item in answer["results"]] == [403] * len(asked)
    assert {item["problem"]["code"] for item in answer["results"]} == {"key_limit"}
    _silent(at, answer)


def _list_permits(at: Stage) -> None:
    for state in ("granted", "redeemed", "unknown"):
        assert at.agent.get(_PERMITS, state=state).ok()["items"] == []
    for state in (None, "sent", "rejected", "revoked", "expired"):
        _silent(at, at.agent.get(_PERMITS, state=state).no(403, "key_limit"))
    mine = at.agent.ask("message", thread_id=f"{at.own}-thread", intent="refund_notice").ok(201)
    page = at.agent.get(_PERMITS, state="granted", limit=1).ok()
    assert [permit["permit_id"] for permit in page["items"]] == [mine["permit_id"]]
    assert page["next"] is None


def _read_permit(at: Stage) -> None:
    at.agent.get(f"{_PERMITS}/{at.permit}").no(404, "unknown_permit")
    mine = at.dunner.remind(f"{at.own}-inv").ok(201)
    assert mine["to"] is None
    read = at.dunner.get(f"{_PERMITS}/{mine['permit_id']}").ok()
    assert (read["permit_id"], read["to"]) == (mine["permit_id"], None)
    gateway = at.service.client("audit").get(f"{_PERMITS}/{mine['permit_id']}").ok()
    assert gateway["to"] == f"{at.own}@x.example"


def _redeem(at: Stage) -> None:
    _silent(at, at.agent.redeem(at.permit).no(403, "forbidden"))
    mine = at.dunner.remind(f"{at.own}-inv").ok(201)["permit_id"]
    at.agent.redeem(mine).no(403, "forbidden")
    assert at.dunner.redeem(mine).ok()["to"] is None


def _report(at: Stage) -> None:
    for outcome in ("sent", "rejected", "unknown"):
        _silent(at, at.agent.report(at.permit, outcome).no(403, "forbidden"))
    assert at.service.get(f"{_PERMITS}/{at.permit}").ok()["state"] == "granted"


def _due(at: Stage) -> None:
    for params in ({}, {"ready": "true"}, {"stage": "day-7"}):
        at.agent.get(_DUE, **params).no(403, "key_limit")
    at.dunner.get(_DUE, stage="day-3").no(403, "key_limit")
    for params in ({}, {"ready": "true"}, {"stage": "day-7"}, {"limit": 1}):
        page = at.dunner.get(_DUE, **params).ok()
        (item,) = page["items"]
        assert (item["customer_id"], item["email"], page["next"]) == (at.own, None, None)
        assert [(i["invoice_id"], i["stage"]) for i in item["invoices"]] == [
            (f"{at.own}-inv", "day-7")
        ]
    early = at.service.client("send", stages=["day-3"], customers=[f"{at.own}*"])
    assert early.get(_DUE).ok()["items"] == []


def _redeem_many(at: Stage) -> None:
    body = {"redeems": [{"permit_id": at.permit}]}
    _silent_item(at, at.agent.post(f"{_PERMITS}/redeem", body))


def _report_many(at: Stage) -> None:
    for outcome in ("sent", "rejected", "unknown"):
        body = {"outcomes": [{"permit_id": at.permit, "outcome": outcome}]}
        _silent_item(at, at.agent.post(f"{_PERMITS}/outcomes", body))


def _silent_item(at: Stage, answer: Answer) -> None:
    """The only item of the batch is a 403 that says nothing of the customer."""
    (item,) = answer.ok()["results"]
    assert (item["status"], item["problem"]["code"]) == (403, "forbidden")
    assert at.victim not in answer.text


def _claim(at: Stage) -> None:
    at.agent.post(f"{_DUE}/claim", {"limit": 1000}).no(403, "key_limit")
    at.dunner.post(f"{_DUE}/claim", {"stage": "day-3"}).no(403, "key_limit")
    claim = {"limit": 1000}
    (permit,) = at.dunner.post(f"{_DUE}/claim", claim, key="once").ok()["permits"]
    assert (permit["customer_id"], permit["to"]) == (at.own, None)
    (again,) = at.dunner.post(f"{_DUE}/claim", claim, key="once").ok()["permits"]
    assert (again["permit_id"], again["to"]) == (permit["permit_id"], None)
    assert at.dunner.post(f"{_DUE}/claim", claim).ok()["permits"] == []


def _lease(at: Stage) -> None:
    lease = {"holder": "h", "ttl_seconds": 60}
    at.agent.post("/v1/jobs/dunning/lease", lease).no(403, "key_limit")
    own = at.agent.post(f"/v1/jobs/{at.agent.name}/lease", lease).ok()
    named = {"job": {"name": at.agent.name, "token": own["token"]}}
    thread = {"thread_id": f"{at.own}-thread", "intent": "refund_notice"}
    others = {"job": {"name": "dunning", "token": own["token"]}}
    at.agent.ask("message", **thread, **others).no(403, "key_limit")
    at.agent.ask("message", **thread, **named).ok(201)


def _give_up_lease(at: Stage) -> None:
    theirs = {"holder": "poller", "ttl_seconds": 600}
    at.service.post(f"/v1/jobs/{at.victim}/lease", theirs).ok()
    for url in ("", "?holder=poller", "?token=1"):
        path = f"/v1/jobs/{at.victim}/lease{url}"
        _silent(at, at.agent.call("DELETE", path).no(403, "key_limit"))
    at.service.post(f"/v1/jobs/{at.agent.name}/lease", theirs).ok()
    at.agent.call("DELETE", f"/v1/jobs/{at.agent.name}/lease").no(403, "key_limit")


def _windows(at: Stage) -> None:
    for who in (at.victim, f"{at.victim}-unknown"):
        for key in (at.agent, at.dunner):
            _silent(at, key.get(f"/v1/customers/{who}/windows").no(403, "key_limit"))
    mine = f"/v1/customers/{at.own}/windows"
    replies = {"replies_1h", "replies_24h"}
    assert at.agent.get(mine).ok()["windows"].keys() == {"outreach_24h", *replies}
    assert at.dunner.get(mine).ok()["windows"].keys() == {"outreach_24h"}


ATTACKS: dict[tuple[str, str], Callable[[Stage], None]] = {
    ("POST", _PERMITS): _ask,
    ("POST", _PERMITS + "/batch"): _ask_for_many,
    ("GET", _PERMITS): _list_permits,
    ("GET", _PERMITS + "/{permit_id}"): _read_permit,
    ("POST", _PERMITS + "/{permit_id}/redeem"): _redeem,
    ("POST", _PERMITS + "/{permit_id}/outcome"): _report,
    ("POST", _PERMITS + "/redeem"): _redeem_many,
    ("POST", _PERMITS + "/outcomes"): _report_many,
    ("GET", _DUE): _due,
    ("POST", _DUE + "/claim"): _claim,
    ("POST", _LEASE): _lease,
    ("DELETE", _LEASE): _give_up_lease,
    ("GET", "/v1/customers/{customer_id}/windows"): _windows,
}


def test_every_call_is_classified_and_attacked() -> None:
    known = {(route.method, route.path) for route in ROUTES}
    assert known == GETS.keys(), "say what a key with limits gets there"
    assert {call for call, gets in GETS.items() if gets == LIMITED} == ATTACKS.keys()


@pytest.mark.parametrize("call", ATTACKS, ids=" ".join)
def test_an_agents_key_gets_no_more_than_it_may_ask_for(
    call: tuple[str, str], stage: Stage
) -> None:
    before = _on_record(stage)
    ATTACKS[call](stage)
    assert _on_record(stage) == before


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if GETS.get((r.method, r.path)) == NOTHING], ids=str
)
def test_an_agents_key_gets_nothing_elsewhere(route: Route, shared_service: Service) -> None:
    agent = _agent(shared_service)
    agent.call(route.method, route.url, route.body).no(403, "forbidden")


@pytest.mark.parametrize(
    "route", [r for r in ROUTES if GETS.get((r.method, r.path)) == ANYBODY], ids=str
)
def test_an_agents_key_is_told_what_is_of_no_customer(
    route: Route, shared_service: Service
) -> None:
    told = _agent(shared_service).call(route.method, route.url, route.body).ok()
    assert told.body.keys() == {"version", "policy"}


def _agent(service: Service) -> Client:
    return service.client("send", intents=["refund_notice"], customers=["nobody"])


def _on_record(at: Stage) -> dict[str, Any]:
    """What the ledger knows of the victim, but for the position of the log."""
    known = at.service.get(f"/v1/customers/{at.victim}").ok().body
    invoice = at.service.get(f"/v1/invoices/{at.victim}-inv").ok().body
    events = at.service.get("/v1/events", customer_id=at.victim, limit=1000).ok()["items"]
    told = {"customer": known, "invoice": invoice, "events": len(events)}
    return {name: _without_position(value) for name, value in told.items()}


def _without_position(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: field for name, field in value.items() if name != "position"}


def _silent(at: Stage, answer: Answer) -> None:
    """The answer tells nothing of the victim but what the request named."""
    assert f"{at.victim}@x.example" not in answer.text
    assert '"windows"' not in answer.text
    assert '"original"' not in answer.text


def _renamed(fields: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return value.replace(old, new) if isinstance(value, str) else value

    return {name: renamed(value) for name, value in fields.items()}
