"""Cases about what could not be said: a false `sent`, more than one override, a wrong merge."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.support.service import Answer, Service, fresh_service

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_SAID = {"by": "ann", "reason": "the provider's log has no such mail"}


@pytest.fixture(scope="module")
def service(postgres: str) -> Iterator[Service]:
    """A service of these cases' own: they move the clock by days."""
    with fresh_service(postgres, "2026-12-01T10:00:00+00:00", connections=4) as started:
        yield started


def _later(service: Service, step: timedelta) -> None:
    service.move_clock(service.clock + step)


def _overdue(service: Service, invoice_id: str, customer_id: str, days: int, **more: Any) -> None:
    due_on = (service.clock - timedelta(days=days)).date().isoformat()
    service.put_invoice(invoice_id, customer_id=customer_id, due_on=due_on, **more).ok()


def _note(service: Service, customer_id: str, event_id: str, **more: Any) -> Answer:
    asked = {"customer_id": customer_id, "event_type": "shipped", "event_id": event_id}
    return service.ask("notification", **asked, **more)


def _state(service: Service, permit_id: str) -> str:
    state: str = service.get(f"/v1/permits/{permit_id}").ok()["state"]
    return state


def test_wrong_sent(service: Service, name: str) -> None:
    """A false `sent` is corrected by a human; a mail that a provider speaks of is not."""
    _overdue(service, name, name, days=8)
    sender = service.client("send")
    first = sender.remind(name).ok(201)
    assert first["items"][0]["supersedes"] == ["day-3"]
    sender.redeem(first["permit_id"]).ok()
    sender.report(first["permit_id"], "sent").ok()
    sender.report(first["permit_id"], "rejected").no(409, "already_settled")
    sender.report(first["permit_id"], "rejected", correction=_SAID).no(403, "forbidden")
    human = service.client("operate")
    for wrong in ({"by": "ann", "reason": " "}, {"by": "ann"}, {"reason": "never left"}):
        answer = human.report(first["permit_id"], "rejected", correction=wrong)
        answer.no(422, "invalid_request")
    human.report(first["permit_id"], "sent", correction=_SAID).no(422, "invalid_request")
    done = human.report(first["permit_id"], "rejected", correction=_SAID).ok()
    assert done["state"] == "rejected"
    human.report(first["permit_id"], "rejected", correction=_SAID).ok()
    assert service.stages(name) == {"day-3": "pending", "day-7": "due", "day-14": "pending"}
    window = service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]
    assert window["used"] == 0

    told = service.get(f"/v1/customers/{name}/timeline").ok()["items"]
    (corrected,) = [item for item in told if item["what"] == "Customer.OutcomeCorrected"]
    assert corrected["kind"] == "action"
    assert {k: corrected["data"][k] for k in ("by", "reason", "was")} == _SAID | {"was": "sent"}
    events = service.get("/v1/events", customer_id=name).ok()["items"]
    topics = [event["topic"] for event in events]
    at = topics.index("ledger:Customer.OutcomeCorrected")
    assert topics[at + 1] == "ledger:Customer.MailSettled"

    second = sender.remind(name).ok(201)
    assert second["items"][0]["stage"] == "day-7"
    assert second["provider_idempotency_key"] != first["provider_idempotency_key"]
    sender.redeem(second["permit_id"]).ok()
    sender.report(second["permit_id"], "sent", provider="resend", provider_message_id=name).ok()
    service.fact(
        "delivery", {"provider": "resend", "event": "delivered", "provider_message_id": name}
    )
    answer = human.report(second["permit_id"], "rejected", correction=_SAID)
    assert "delivered" in answer.no(409, "already_settled")["detail"]
    assert _state(service, second["permit_id"]) == "sent"

    late = {"event": "delivered", "provider_message_id": f"{name}-2", "provider": "resend"}
    third = _note(service, f"{name}-n", "1").ok(201)["permit_id"]
    service.report(third, "sent", provider_message_id=f"{name}-2").ok()
    human.report(third, "rejected", correction=_SAID).ok()
    service.fact("delivery", late)
    assert _state(service, third) == "sent"
    assert len(service.alerts("sent_after_expiry", f"{name}-n")) == 1
    _note(service, f"{name}-n", "1").no(409, "already_sent")


def test_wrong_sent_more_than_one_override(service: Service, name: str) -> None:
    """Each deliberate repeat is a human's; the second goes after the first was sent."""
    customer = f"{name}-o"
    first = _note(service, customer, "1").ok(201)["permit_id"]
    service.report(first, "sent").ok()
    repeats = []
    for action in ("call-1", "call-2", "call-3"):
        _later(service, _DAY)
        said = {"action_id": f"{name}-{action}", "by": "ann", "reason": "asked for it by phone"}
        granted = _note(service, customer, "1", override=said).ok(201)["permit_id"]
        service.redeem(granted).ok()
        service.report(granted, "sent").ok()
        repeats.append(granted)
        _note(service, customer, "1", override=said).no(409, "already_sent")
    assert [_state(service, permit) for permit in (first, *repeats)] == ["sent"] * 4
    _later(service, _DAY)
    again = _note(service, customer, "1").no(409, "already_sent")
    assert again["original"]["permit_id"] == first
    answer = service.report(first, "rejected", correction=_SAID).no(409, "already_settled")
    assert repeats[0] in answer["detail"]
    for permit in repeats:
        service.report(permit, "rejected", correction=_SAID).ok()
    service.report(first, "rejected", correction=_SAID).ok()
    _note(service, customer, "1").ok(201)


def test_unmerge(service: Service, name: str) -> None:
    """Who was merged by mistake is their own again, and nobody gets a mail twice for it."""
    one, other = f"{name}-a", f"{name}-b"
    before = _note(service, one, "before").ok(201)["permit_id"]
    service.report(before, "sent").ok()
    _overdue(service, f"{one}-inv", one, days=4, email=f"pat@{name}.example")
    _overdue(service, f"{other}-inv", other, days=4, email=f"kim@{name}.example")
    _later(service, _MINUTE)
    service.fact("customer.merged", {"from": one, "into": other})
    during = _note(service, one, "during").ok(201)
    assert during["customer_id"] == other
    service.report(during["permit_id"], "sent").ok()
    _note(service, other, "full").no(429, "cap_reached")
    service.ask("reminder", invoices=[f"{one}-inv", f"{other}-inv"]).no(409, "breaker_open")
    denied = service.ask("notification", customer_id=one, event_type="shipped", event_id="during")
    old_decision = denied.no(409, "already_sent")["decision_id"]
    _later(service, _MINUTE)
    parted = service.fact("customer.unmerged", {"customer_id": one, "from": other})
    assert parted["results"][0]["result"] == "applied"
    _later(service, _MINUTE)

    for customer in (one, other):
        assert service.get(f"/v1/customers/{customer}").ok()["customer_id"] == customer
        assert service.get(f"/v1/customers/{customer}").ok()["merged"] == []
        assert service.breaker(customer) == "open"
        reset = {"reason": "a wrong merge", "by": "ann"}
        service.post(f"/v1/customers/{customer}/breaker/reset", reset).ok()
    states = {c: service.get(f"/v1/customers/{c}").ok() for c in (one, other)}
    used = {c: state["windows"]["outreach_24h"]["used"] for c, state in states.items()}
    assert used == {one: 2, other: 1}
    assert states[one]["addresses"] == [f"pat@{name}.example"]
    assert states[other]["addresses"] == [f"kim@{name}.example"]
    assert [i["invoice_id"] for i in states[one]["open_invoices"]] == [f"{one}-inv"]
    for event_id in ("before", "during"):
        for customer in (one, other):
            _note(service, customer, event_id).no(409, "already_sent")
    due = {item["customer_id"]: item for item in service.get("/v1/due", limit=1000).ok()["items"]}
    assert due[one]["withheld"]["code"] == "cap_reached"
    assert [i["invoice_id"] for i in due[other]["invoices"]] == [f"{other}-inv"]
    assert service.remind(f"{other}-inv").ok(201)["to"] == f"kim@{name}.example"
    _later(service, _DAY)
    assert service.remind(f"{one}-inv").ok(201)["to"] == f"pat@{name}.example"

    told = {
        decision: service.get(f"/v1/decisions/{decision}").ok()["explanation"]
        for decision in (before, during["decision_id"], old_decision)
    }
    assert [told[decision]["reproduced"] for decision in told] == [True] * 3
    assert told[old_decision]["state"]["customer"]["merged"] == [one]
    denied_by = [g["guard"] for g in told[old_decision]["guards"] if g["verdict"] == "denied"]
    assert denied_by == ["final_duplicate"]

    twice = {"customer_id": one, "from": other}
    answer = service.fact("customer.unmerged", twice)
    assert answer["results"][0]["result"] == "ignored"
    again = service.fact("customer.merged", {"from": one, "into": other})
    assert again["results"][0]["result"] == "applied"
    assert service.get(f"/v1/customers/{one}").ok()["customer_id"] == other


def test_unmerge_customer_credit(service: Service, name: str) -> None:
    """A credit beside any invoice lowers what is owed; all of it covered, nobody is reminded."""
    _overdue(service, f"{name}-1", name, days=4, total=30_000)
    _overdue(service, f"{name}-2", name, days=4, total=5_000)
    _overdue(service, f"{name}-e", name, days=4, total=9_000, currency="EUR")
    credit = {"customer_id": name, "credit_id": "goodwill", "currency": "USD"}
    service.fact("customer.credit", credit | {"amount": 34_999})
    state = service.get(f"/v1/customers/{name}").ok()
    assert [(o["currency"], o["amount"]) for o in state["owed"]] == [("EUR", 9_000), ("USD", 1)]
    assert state["credit"] == [{"currency": "USD", "amount": 34_999}]
    asked = {"invoices": [f"{name}-1", f"{name}-2", f"{name}-e"]}
    permit = service.ask("reminder", **asked).ok(201)
    assert len(permit["items"]) == 3
    service.fact("customer.credit", credit | {"credit_id": "more", "amount": 1})
    service.redeem(permit["permit_id"]).no(409, "revoked")

    service.remind(f"{name}-1").no(409, "nothing_owed")
    granted = service.ask("reminder", **asked).ok(201)
    assert [item["invoice_id"] for item in granted["items"]] == [f"{name}-e"]
    assert {w["code"] for w in granted["withheld"]} == {"nothing_owed"}
    service.report(granted["permit_id"], "rejected").ok()
    due = {item["customer_id"]: item for item in service.get("/v1/due", limit=1000).ok()["items"]}
    assert [i["invoice_id"] for i in due[name]["invoices"]] == [f"{name}-e"]
    service.fact("customer.credit", credit | {"credit_id": "more", "amount": -1})
    service.remind(f"{name}-1").ok(201)
    wrong = credit | {"amount": 1, "currency": "EUR"}
    event = {"id": f"{name}-w", "source": "tests", "type": "customer.credit", "data": wrong}
    (result,) = service.post("/v1/facts", {"facts": [event]}).ok()["results"]
    assert result["result"] == "rejected"


def test_unmerge_further_recipients(service: Service, name: str) -> None:
    """Who gets a copy has it counted, may forbid it, and bounces for themselves alone."""
    one, boss = f"{name}-a", f"{name}-boss"
    desk, top = f"desk@{name}.example", f"boss@{name}.example"
    service.fact("customer.observed", {"customer_id": one, "emails": [desk]})
    service.fact("customer.observed", {"customer_id": boss, "emails": [top]})
    _overdue(service, name, one, days=4)
    sender = service.client("send")
    key = f"key-{name}"
    granted = sender.remind(name, cc=[top.upper(), desk, top], idem=key).ok(201)
    assert granted["copies"] == [{"customer_id": boss}]
    assert (granted["to"], granted["customer_id"]) == (desk, one)
    assert sender.remind(name, cc=[top.upper(), desk, top], idem=key).ok()["copies"]
    sender.remind(name, cc=[], idem=key).no(422, "key_conflict")
    assert _used(service, boss) == 0
    sender.redeem(granted["permit_id"]).ok()
    assert (_used(service, one), _used(service, boss)) == (1, 1)
    told = {"provider": "resend", "provider_message_id": name}
    sender.report(granted["permit_id"], "sent", **told).ok()
    assert service.get(f"/v1/permits/{granted['permit_id']}").ok()["copies"] == granted["copies"]

    _note(service, boss, "1").ok(201)
    full = _note(service, f"{name}-b", "1", cc=[top]).no(429, "cap_reached")
    assert boss in full["detail"]
    assert full["available_at"] is not None
    assert service.breaker(boss) == "closed"
    _note(service, f"{name}-b", "1").ok(201)
    denied = service.get(f"/v1/decisions/{full['decision_id']}").ok()
    assert denied["explanation"]["reproduced"]
    by = [g["guard"] for g in denied["explanation"]["guards"] if g["verdict"] == "denied"]
    assert by == ["copies"]
    assert top not in str(denied)
    granted_again = service.get(f"/v1/decisions/{granted['decision_id']}").ok()
    assert granted_again["explanation"]["reproduced"]

    service.fact("delivery", told | {"event": "bounced", "recipient": top})
    assert not service.get(f"/v1/permits/{granted['permit_id']}").ok()["bounced"]
    assert service.stages(name)["day-3"] == "sent"
    _later(service, 2 * _DAY)
    _note(service, one, "2", cc=[top]).no(409, "address_on_hold")
    _note(service, boss, "2").no(409, "address_on_hold")
    _note(service, one, "2").ok(201)

    stranger = f"kim@{name}.example"
    told_of = _note(service, one, "3", cc=[stranger]).ok(201)["copies"][0]["customer_id"]
    service.fact("customer.observed", {"customer_id": f"{name}-kim", "emails": [stranger]})
    assert service.get(f"/v1/customers/{told_of}").ok()["customer_id"] == f"{name}-kim"
    assert _used(service, f"{name}-kim") == 1
    for wrong in (["nobody"], [f"{n}@{name}.example" for n in range(21)], "pat@x.example"):
        _note(service, one, "4", cc=wrong).no(422, "invalid_request")


def test_unmerge_a_copy_of_a_mail_that_was_refused(service: Service, name: str) -> None:
    """A mail that never went out had no copies; a human's correction frees their places too."""
    boss, top = f"{name}-boss", f"boss@{name}.example"
    service.fact("customer.observed", {"customer_id": boss, "emails": [top]})
    permit = _note(service, name, "1", cc=[top]).ok(201)["permit_id"]
    service.redeem(permit).ok()
    service.report(permit, "sent").ok()
    assert _used(service, boss) == 1
    service.report(permit, "rejected", correction=_SAID).ok()
    assert (_used(service, name), _used(service, boss)) == (0, 0)
    _later(service, _MINUTE)
    again = _note(service, name, "1", cc=[top]).ok(201)["permit_id"]
    service.fact("customer.hold", {"customer_id": boss, "reason": "left the company"})
    service.redeem(again).no(409, "revoked")


def test_subscription_ended(service: Service, name: str) -> None:
    """Mails that a living subscription is the reason for stop; what is owed is still dunned."""
    _overdue(service, name, name, days=4)
    failed = {"invoice_id": name, "event_id": f"{name}-1", "subscription_id": f"{name}-sub"}
    service.fact("invoice.payment_failed", failed)
    waiting = service.ask("payment_failed", invoice_id=name, event_id=f"{name}-1").ok(201)
    ended = {"subscription_id": f"{name}-sub", "customer_id": name, "invoice_ids": [name]}
    service.fact("subscription.ended", ended)
    service.redeem(waiting["permit_id"]).no(409, "revoked")
    asked = {"invoice_id": name, "event_id": f"{name}-1"}
    service.ask("payment_failed", **asked).no(409, "subscription_ended")
    upcoming = {"customer_id": name, "event_type": "invoice.upcoming", "event_id": name}
    service.ask("notification", **upcoming).no(409, "subscription_ended")
    service.remind(name).ok(201)
    _later(service, _DAY)
    service.fact("subscription.resumed", ended)
    service.ask("payment_failed", **asked).ok(201)


def _used(service: Service, customer_id: str) -> int:
    used: int = service.get(f"/v1/customers/{customer_id}").ok()["windows"]["outreach_24h"]["used"]
    return used
