"""What an adversary found: ways to a second permit for one mail, and facts that broke a reader."""

from typing import Any

from ledger.domain.money import LARGEST_AMOUNT
from tests.support.service import Answer, Service


def _inbound(service: Service, name: str, message_id: str, **more: Any) -> Answer:
    data = {"thread_id": name, "message_id": message_id, "direction": "inbound"}
    return service.fact("thread.message", data | {"customer_id": f"cus-{name}"} | more)


def _override(name: str) -> dict[str, str]:
    return {"action_id": name, "by": "pat", "reason": "asked for it again"}


def test_a_message_without_its_angle_brackets_is_the_same_message(
    service: Service, name: str
) -> None:
    _inbound(service, name, f"<{name}@example.com>")
    service.send("reply", thread_id=name, in_reply_to=f"<{name}@example.com>")
    for spelling in (f"{name}@example.com", f" <{name}@example.com> "):
        told = _inbound(service, name, spelling)
        assert told["results"][0]["result"] == "duplicate"
        service.ask("reply", thread_id=name, in_reply_to=spelling).no(409, "already_replied")


def test_a_replaced_message_id_is_known_without_its_angle_brackets(
    service: Service, name: str
) -> None:
    permit = service.ask("notification", customer_id=name, event_type="e", event_id="1").ok(201)
    service.report(permit["permit_id"], "unknown", message_id=f"<{name}@mail.example>").ok()
    delivery = {"provider": "p", "event": "delivered", "message_id": f"{name}@mail.example"}
    service.fact("delivery", delivery)
    assert service.get(f"/v1/permits/{permit['permit_id']}")["state"] == "sent"


def test_a_message_told_again_as_a_machines_earns_no_reply(service: Service, name: str) -> None:
    message_id = f"<{name}@example.com>"
    _inbound(service, name, message_id)
    _inbound(service, name, message_id, headers={"Auto-Submitted": "auto-replied"})
    service.ask("reply", thread_id=name, in_reply_to=message_id).no(409, "auto_generated")
    _inbound(service, name, message_id)
    service.ask("reply", thread_id=name, in_reply_to=message_id).no(409, "auto_generated")


def test_a_message_told_again_as_outbound_earns_no_reply(service: Service, name: str) -> None:
    message_id = f"<{name}@example.com>"
    _inbound(service, name, message_id)
    _inbound(service, name, message_id, direction="outbound")
    service.ask("reply", thread_id=name, in_reply_to=message_id).no(409, "outbound_message")


def test_an_override_of_one_event_passes_no_live_permit_of_the_attempt(
    service: Service, name: str
) -> None:
    service.put_invoice(name)
    service.send("payment_failed", invoice_id=name, event_id="evt_1")
    live = {"invoice_id": name, "event_id": "evt_2", "attempt_id": "pi_2"}
    service.ask("payment_failed", **live).ok(201)
    both = {"invoice_id": name, "event_id": "evt_1", "attempt_id": "pi_2"}
    service.ask("payment_failed", **both, override=_override(name)).no(409, "permit_held")


def test_a_control_character_in_the_reason_of_a_hold_is_refused(
    service: Service, name: str
) -> None:
    held = {"type": "invoice.hold", "data": {"invoice_id": name, "reason": "a\0b"}}
    stopped = {"type": "customer.hold", "data": {"customer_id": name, "reason": "a\0b"}}
    facts = [{"id": f"{name}-{n}", "source": "t"} | f for n, f in enumerate((held, stopped))]
    answer = service.post("/v1/facts", {"facts": facts}).ok()
    assert [r["result"] for r in answer["results"]] == ["rejected", "rejected"]


def test_a_sum_beyond_every_amount_does_not_stop_the_read_models(
    service: Service, name: str
) -> None:
    service.put_invoice(name, total=LARGEST_AMOUNT, due_on="2026-11-01").ok()
    data = {"invoice_id": name, "amount": LARGEST_AMOUNT, "state": "reversed"}
    for first, last in ((0, 1000), (1000, 1030)):
        facts = [
            {
                "id": f"{name}-{n}",
                "source": "t",
                "type": "invoice.payment",
                "data": data | {"payment_id": f"{name}-{n}"},
            }
            for n in range(first, last)
        ]
        service.post("/v1/facts", {"facts": facts}).ok()
    assert service.get(f"/v1/invoices/{name}").ok()["amount_remaining"] == LARGEST_AMOUNT
    service.get("/v1/due").ok()
    states = {p["name"]: p["state"] for p in service.get("/v1/projections").ok()["items"]}
    assert set(states.values()) == {"live"}, states


def test_a_long_chain_of_merges_leads_to_one_customer(service: Service, name: str) -> None:
    ids = [f"{name}-{n}" for n in range(120)]
    notice = {"event_type": "shipped", "event_id": "1"}
    service.send("notification", customer_id=ids[0], **notice)
    merges = [
        {
            "id": f"{name}-{n}",
            "source": "t",
            "type": "customer.merged",
            "data": {"from": ids[n], "into": ids[n + 1]},
        }
        for n in range(len(ids) - 1)
    ]
    service.post("/v1/facts", {"facts": merges}).ok()
    for customer_id in (ids[0], ids[60], ids[-1]):
        service.ask("notification", customer_id=customer_id, **notice).no(409, "already_sent")
        assert service.get(f"/v1/customers/{customer_id}").ok()["customer_id"] == ids[-1]


def test_a_repeat_sent_after_its_expiry_revokes_the_second_try_of_its_action(
    service: Service, name: str
) -> None:
    human = service.client("send", "operate")
    notice = {"customer_id": f"n-{name}", "event_type": "shipped", "event_id": "1"}
    intent = {"customer_id": f"m-{name}", "thread_id": name, "intent": "refund"}
    sends: dict[str, dict[str, Any]] = {"notification": notice, "message": intent}
    for kind, asked in sends.items():
        service.send(kind, **asked)
        again = asked | {"override": _override(f"{kind}-{name}")}
        first = human.ask(kind, **again).ok(201)["permit_id"]
        service.advance(minutes=10)
        second = human.ask(kind, **again).ok(201)["permit_id"]
        human.report(first, "sent").ok()
        human.redeem(second).no(409, "revoked")
        human.ask(kind, **again).no(409, "already_sent")
