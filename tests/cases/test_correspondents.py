"""Cases about whom a message comes from: writers, contact forms, reports, lists, shared ids."""

import base64
from typing import Any

import pytest

from tests.cases.talking import inbound, reply
from tests.support.service import Service

NOW = "2026-12-01T10:00:00Z"
START = pytest.mark.starts(NOW)
DELIVERY_STATUS = 'multipart/report; report-type=delivery-status; boundary="b1"'
READ_RECEIPT = "multipart/report; report-type=disposition-notification"


def windows_of(service: Service, customer_id: str) -> dict[str, Any]:
    """The customer's windows."""
    found: dict[str, Any] = service.get(f"/v1/customers/{customer_id}").ok()["windows"]
    return found


@START
@pytest.mark.parametrize("told_by", ["field", "header", "nothing"])
def test_reply_goes_to_the_writer(told_by: str, service: Service, name: str) -> None:
    customer, agent = f"CW-{name}", service.client("send")
    service.put_invoice(name, customer_id=customer, email=f"billing@{name}.example").ok()
    writer = f"pat@{name}.private.example"
    fields: dict[str, Any] = {"from_": writer}
    if told_by != "nothing":
        fields["from_"] = f"web@{name}.example"
    if told_by == "field":
        fields["reply_to"] = writer
    if told_by == "header":
        fields["headers"] = {"Reply-To": f'"Pat, of CW" <{writer}>, <other@x.example>'}
    inbound(service, f"thr-{name}", f"<w1.{name}@x>", customer_id=customer, **fields)
    permit = reply(agent, f"thr-{name}", f"<w1.{name}@x>").ok(201)
    assert permit["to"] == writer
    assert permit["customer_id"] == customer
    assert agent.redeem(permit["permit_id"]).ok()["to"] == writer
    assert windows_of(service, customer)["replies_1h"]["used"] == 1


@START
def test_a_reply_never_goes_to_the_billing_address(service: Service, name: str) -> None:
    """Nobody told who wrote: whoever asks must know, for the ledger names nobody else."""
    agent = service.client("send")
    service.put_invoice(name, customer_id=name, email=f"billing@{name}.example").ok()
    inbound(service, f"thr-{name}", f"<w1.{name}@x>", customer_id=name)
    assert reply(agent, f"thr-{name}", f"<w1.{name}@x>").ok(201).body.get("to") is None


def postmark(service: Service, name: str, number: int, **fields: Any) -> str:
    """An inbound mail that Postmark posts; answers with its Message-ID."""
    message_id = f"<form-{number}.{name}@shop.example>"
    body = {
        "FromFull": {"Email": f"forms@{name}.shop.example", "Name": "", "MailboxHash": ""},
        "OriginalRecipient": "inbox@ours.example",
        "MessageID": f"{number:08}-{name}",
        "Date": "Tue, 1 Dec 2026 10:00:00 +0000",
        "Headers": [{"Name": "Message-ID", "Value": message_id}, *fields.pop("headers", ())],
    }
    given = {"authorization": "Basic " + base64.b64encode(b"u:p").decode()}
    path, without_key = "/v1/webhooks/postmark", service.without_key()
    without_key.call("POST", path, body | fields, headers=given).ok()
    return message_id


@START
@pytest.mark.parametrize("field", ["ReplyTo", "header"])
def test_contact_form(field: str, service: Service, name: str) -> None:
    agent, people, owners = service.client("send"), [], set()
    for number in range(7):
        visitor = f"visitor{number}@v{number}.{name}.example"
        people.append(visitor)
        fields: dict[str, Any] = {"ReplyTo": visitor}
        if field == "header":
            fields = {"headers": [{"Name": "Reply-To", "Value": f"Visitor <{visitor}>"}]}
        message_id = postmark(service, name, number, **fields)
        permit = reply(agent, message_id, message_id).ok(201)
        assert permit["to"] == visitor
        owners.add(permit["customer_id"])
        for_them = agent.ask("notification", to=visitor, event_type="t", event_id=visitor).ok(201)
        assert for_them["customer_id"] == permit["customer_id"]
    assert len(owners) == 7
    form = {"to": f"forms@{name}.shop.example", "event_type": "t", "event_id": name}
    assert agent.ask("notification", **form).ok(201)["customer_id"] not in owners


REPORTS: dict[str, tuple[dict[str, Any], bool]] = {
    "auto-submitted": (
        {"headers": {"Content-Type": DELIVERY_STATUS, "Auto-Submitted": "auto-replied"}},
        True,
    ),
    "an empty return path": (
        {"headers": {"content-type": DELIVERY_STATUS}, "return_path": "<>"},
        True,
    ),
    "in other words": ({"headers": {"CONTENT-TYPE": DELIVERY_STATUS.upper()}}, True),
    "its parts are read": (
        {"report": {"type": "delivery-status", "action": "failed"}, "return_path": ""},
        True,
    ),
    "only late": (
        {
            "headers": {"Content-Type": DELIVERY_STATUS},
            "report": {"type": "delivery-status", "action": "delayed"},
        },
        False,
    ),
    "a read receipt": ({"headers": {"Content-Type": READ_RECEIPT}}, False),
    "a read receipt, empty return path": (
        {"headers": {"Content-Type": READ_RECEIPT}, "return_path": "<>"},
        False,
    ),
    "out of office": ({"headers": {"Auto-Submitted": "auto-replied"}}, False),
}


@START
@pytest.mark.parametrize("what", REPORTS)
@pytest.mark.parametrize("kind", ["reminder", "notification"])
def test_bounce_report_by_mail(what: str, kind: str, service: Service, name: str) -> None:
    agent, (fields, bounces) = service.client("send"), REPORTS[what]
    address = f"pat@{name}.example"
    due = {"due_on": "2026-11-20", "customer_id": name, "email": address}
    service.put_invoice(name, **due).ok()
    notice = {"customer_id": name, "event_type": "shipped"}
    asked = {"invoices": [name]} if kind == "reminder" else notice | {"event_id": "1"}
    permit = agent.ask(kind, **asked).ok(201)
    agent.redeem(permit["permit_id"]).ok()
    agent.report(permit["permit_id"], "sent").ok()
    inbound(
        service,
        f"thr-{name}",
        f"<report.{name}@mx.example>",
        from_="mailer-daemon@mx.example",
        references=[permit["message_id"]],
        **fields,
    )
    read = service.get(f"/v1/permits/{permit['permit_id']}").ok()
    assert read["bounced"] is bounces
    next_one = agent.ask("notification", **notice, event_id="2")
    if bounces:
        next_one.no(409, "address_on_hold")
    else:
        next_one.ok(201)
    if kind == "reminder":
        assert ("bounced" in service.stages(name).values()) is bounces


LISTS = {
    "ours": ("Our support <support.ours.example>", True),
    "ours in other case": ("<SUPPORT.Ours.example>", True),
    "somebody else's": ("News <news.theirs.example>", False),
}


@START
@pytest.mark.parametrize("which", LISTS)
def test_our_own_list(which: str, service: Service, name: str) -> None:
    agent, (list_id, a_person) = service.client("send"), LISTS[which]
    marks = {"List-Id": list_id, "Precedence": "list", "List-Unsubscribe": "<mailto:u@x.example>"}
    inbound(service, name, f"<1.{name}@x>", from_=f"{name}@x.example", headers=marks)
    answer = reply(agent, name, f"<1.{name}@x>")
    if a_person:
        answer.ok(201)
        machine = marks | {"Auto-Submitted": "auto-replied"}
        inbound(service, name, f"<2.{name}@x>", from_=f"{name}@x.example", headers=machine)
        answer = reply(agent, name, f"<2.{name}@x>")
    answer.no(409, "auto_generated")


@START
@pytest.mark.parametrize("length", [255, 256, 900])
def test_long_or_shared_message_ids(length: int, service: Service, name: str) -> None:
    agent = service.client("send")
    inner = f"{'x' * (length - len(name) - 2)}{name}@x"
    inbound(service, name, f"<{inner}>", from_=f"{name}@x.example")
    permit = reply(agent, name, inner).ok(201)
    agent.redeem(permit["permit_id"]).ok()
    agent.report(permit["permit_id"], "sent", message_id=f"<sent-{inner}>").ok()
    reply(agent, name, f"<{inner}>").no(409, "already_replied")
    long = {"provider": "ses", "event": "bounced", "message_id": f"<sent-{inner}>"}
    service.fact("delivery", long)
    inbound(service, name, f"<2.{name}@x>", from_=f"{name}@x.example")
    reply(agent, name, f"<2.{name}@x>").no(409, "address_on_hold")


@START
def test_two_people_who_share_a_message_id(service: Service, name: str) -> None:
    agent, shared = service.client("send"), f"<same.{name}@x>"
    first = f"first@{name}.example"
    for who in ("first", "second"):
        inbound(service, f"{who}-{name}", shared, from_=f"{who}@{name}.example")
    keys = set()
    for who in ("first", "second"):
        permit = reply(agent, f"{who}-{name}", shared).ok(201)
        assert permit["to"] == f"{who}@{name}.example"
        assert permit["thread_id"] == f"{who}-{name}"
        keys.add(permit["provider_idempotency_key"])
        agent.redeem(permit["permit_id"]).ok()
        agent.report(permit["permit_id"], "sent").ok()
        reply(agent, f"{who}-{name}", shared).no(409, "already_replied")
    assert len(keys) == 2
    inbound(service, f"third-{name}", shared, from_=first)
    reply(agent, f"third-{name}", shared).no(409, "already_replied")


@START
@pytest.mark.parametrize("before", [False, True], ids=["known", "before a first mail"])
def test_hold_a_thread_or_an_address(before: bool, service: Service, name: str) -> None:
    agent, reason = service.client("send"), {"thread_id": name, "reason": "lawyer"}
    if not before:
        inbound(service, name, f"<1.{name}@x>", from_=f"{name}@x.example")
    service.fact("thread.hold", reason | {"kinds": ["reply"]})
    if before:
        agent.ask("follow_up", thread_id=name, step=1).no(404, "unknown_thread")
        inbound(service, name, f"<1.{name}@x>", from_=f"{name}@x.example")
    reply(agent, name, f"<1.{name}@x>").no(409, "on_hold")
    permit = agent.ask("message", thread_id=name, intent="copy").ok(201)["permit_id"]
    until = {"until": "2026-12-01T12:00:00Z"}
    service.fact("thread.hold", {"thread_id": name, "reason": "holiday"} | until)
    agent.redeem(permit).no(409, "revoked")
    denied = agent.ask("message", thread_id=name, intent="copy").no(409, "on_hold")
    assert denied["available_at"] == "2026-12-01T12:00:00Z"
    service.fact("thread.unhold", {"thread_id": name, "reason": "holiday"})
    agent.ask("message", thread_id=name, intent="copy").ok(201)
    reply(agent, name, f"<1.{name}@x>").no(409, "on_hold")
    service.fact("thread.unhold", reason)
    reply(agent, name, f"<1.{name}@x>").ok(201)


@START
def test_a_hold_before_a_first_mail_binds_the_one_that_begins_the_thread(
    service: Service, name: str
) -> None:
    agent = service.client("send")
    service.fact("thread.hold", {"thread_id": name, "reason": "lawyer"})
    asked = {"thread_id": name, "intent": "copy", "customer_id": name}
    agent.ask("message", **asked).no(409, "on_hold")
    service.fact("thread.unhold", {"thread_id": name, "reason": "lawyer"})
    assert agent.ask("message", **asked).ok(201)["customer_id"] == name
    agent.ask("follow_up", thread_id=name, step=1).ok(201)


@START
@pytest.mark.parametrize("known", [True, False], ids=["told before", "told after"])
def test_a_reply_by_hand_is_observed(known: bool, service: Service, name: str) -> None:
    agent, m1 = service.client("send"), f"<1.{name}@x>"
    if known:
        inbound(service, name, m1, from_=f"{name}@x.example", customer_id=name)
    by_hand = {"customer_id": name, "thread_id": name, "in_reply_to": m1, "at": NOW}
    service.fact("send.observed", by_hand)
    if not known:
        inbound(service, name, m1, from_=f"{name}@x.example", customer_id=name)
    denied = reply(agent, name, m1).no(409, "already_replied")
    assert denied["original"]["sent_at"] == NOW
    assert windows_of(service, name)["replies_1h"]["used"] == 1
    assert windows_of(service, name)["outreach_24h"]["used"] == 0
