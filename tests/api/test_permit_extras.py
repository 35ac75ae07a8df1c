"""What comes with a request for a permit: riding facts, overrides, and names that are tuples."""

from datetime import timedelta

from tests.support.service import Service

_DAY = timedelta(days=1)


def _ago(service: Service, days: int) -> str:
    return (service.clock - days * _DAY).date().isoformat()


def test_riding_facts_stay_applied_if_the_answer_is_no(service: Service, name: str) -> None:
    snapshot = {
        "customer_id": name,
        "currency": "USD",
        "total": 500,
        "amount_remaining": 500,
        "status": "open",
        "due_on": _ago(service, 1),
    }
    service.remind(name, "day-3", facts={name: snapshot}).no(409, "not_reached")
    invoice = service.get(f"/v1/invoices/{name}").ok()
    assert (invoice["total"], invoice["due_on"]) == (500, _ago(service, 1))
    paid = snapshot | {"amount_remaining": 0, "status": "paid"}
    service.advance(seconds=1)
    service.remind(name, facts={name: paid}).no(409, "nothing_owed")
    assert service.get(f"/v1/invoices/{name}").ok()["status"] == "paid"


def test_one_call_is_the_whole_integration_of_a_poller(service: Service, name: str) -> None:
    snapshot = {
        "customer_id": name,
        "email": f"{name}@example.com",
        "currency": "USD",
        "total": 500,
        "amount_remaining": 500,
        "status": "open",
        "due_on": _ago(service, 4),
    }
    poller = service.client("send")
    permit = poller.remind(name, facts={name: snapshot}, redeem=True).ok(201)
    assert (permit["state"], permit["to"]) == ("redeemed", f"{name}@example.com")
    poller.redeem(permit["permit_id"]).no(409, "already_redeemed")
    poller.report(permit["permit_id"], "sent").ok()
    poller.remind(name, "day-3", facts={name: snapshot}).no(409, "already_sent")


def test_an_older_riding_snapshot_changes_nothing(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=_ago(service, 4), total=500).ok()
    old = {
        "customer_id": f"cus-{name}",
        "currency": "USD",
        "total": 900,
        "amount_remaining": 900,
        "status": "open",
        "observed_at": (service.clock - _DAY).isoformat(),
    }
    permit = service.remind(name, facts={name: old}).ok(201)
    assert permit["items"][0]["amount_remaining"] == 500


def test_an_override_is_a_humans_once_per_action_and_counts(service: Service, name: str) -> None:
    service.send("message", thread_id=name, intent="copy", customer_id=name)
    again = {"thread_id": name, "intent": "copy"}
    override = {"action_id": f"op-{name}", "by": "ann", "reason": "it never came"}
    agent = service.client("send")
    agent.ask("message", **again, override=override).no(403, "forbidden")
    human = service.client("send", "operate", redeem="optional")
    permit = human.ask("message", **again, override=override).ok(201)
    assert permit["windows"]["outreach_24h"]["used"] == 2
    human.ask("message", **again, override=override).no(409, "already_sent")
    agent.ask("message", **again).no(409, "duplicate_intent")
    capped = override | {"action_id": f"op2-{name}"}
    human.ask("message", **again, override=capped).no(429, "cap_reached")
    decision = service.get(f"/v1/decisions/{permit['decision_id']}").ok()
    assert decision["request"]["override"]["by"] == "ann"


def test_an_override_passes_the_duplicate_guard_only(service: Service, name: str) -> None:
    service.put_invoice(name, due_on=_ago(service, 4)).ok()
    permit = service.remind(name).ok(201)
    override = {"action_id": f"op-{name}", "by": "ann", "reason": "again"}
    service.remind(name, "day-3", override=override).no(409, "permit_held")
    service.report(permit["permit_id"], "sent").ok()
    service.advance(seconds=1)
    service.fact("invoice.hold", {"invoice_id": name, "reason": "dispute"})
    service.remind(name, "day-3", override=override).no(409, "on_hold")
    service.advance(seconds=1)
    service.fact("invoice.unhold", {"invoice_id": name, "reason": "dispute"})
    repeat = service.remind(name, "day-3", override=override).ok(201)
    assert repeat["items"][0]["supersedes"] == []


def test_tuples_are_never_glued_together(service: Service, name: str) -> None:
    for thread, intent in ((f"{name}:a", "b"), (name, "a:b"), (f"{name}:a:", "b"), (name, ":a:b")):
        service.ask("message", thread_id=thread, intent=intent, customer_id=thread + intent).ok(201)
