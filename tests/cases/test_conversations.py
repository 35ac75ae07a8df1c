"""Cases about conversations: who wrote, who has answered, and to whom a reply goes."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.cases.timeline import Story
from tests.support.service import Answer, Client, Service

NOW = "2026-12-01T10:00:00Z"
START = pytest.mark.starts(NOW)
DELIVERY_STATUS = 'multipart/report; report-type=delivery-status; boundary="b1"'
READ_RECEIPT = "multipart/report; report-type=disposition-notification"


def inbound(service: Service, thread: str, message_id: str, **fields: Any) -> Answer:
    """A message that came in, a person's unless its fields say otherwise."""
    return told(service, thread, message_id, "inbound", **fields)


def told(service: Service, thread: str, message_id: str, direction: str, **fields: Any) -> Answer:
    """A message of a thread; `from_` is its sender."""
    if "from_" in fields:
        fields["from"] = fields.pop("from_")
    data = {"thread_id": thread, "message_id": message_id, "direction": direction}
    return service.fact("thread.message", data | fields)


def reply(agent: Client, thread: str, message_id: str, **fields: Any) -> Answer:
    """A request to reply to a message."""
    return agent.ask("reply", thread_id=thread, in_reply_to=message_id, **fields)


def windows_of(service: Service, customer_id: str) -> dict[str, Any]:
    """The customer's windows."""
    found: dict[str, Any] = service.get(f"/v1/customers/{customer_id}").ok()["windows"]
    return found


ROUNDS: dict[str, Callable[[str, int], dict[str, Any]]] = {
    "another thread and tag each round": lambda desk, n: {"from_": f"support+id{n}@{desk}"},
    "another tag, and nothing referred to": lambda desk, n: {
        "from_": f"support+id{n}@{desk}",
        "references": [],
    },
    "another address each round": lambda desk, n: {"from_": f"support{n}@{desk}"},
    "another domain each round": lambda desk, n: {"from_": f"support@{n}.{desk}"},
    "the tag in the Reply-To alone": lambda desk, n: {
        "from_": f"support@{desk}",
        "reply_to": f"support+id{n}@{desk}",
    },
    "one customer": lambda desk, n: {"from_": f"a{n}@{desk}", "customer_id": f"cus-{desk}"},
}


@START
@pytest.mark.parametrize("round_", ROUNDS)
def test_two_ticket_systems(
    round_: str, service: Service, tell: Callable[..., None], name: str
) -> None:
    """Each round a new thread, with a reference to our last mail; from the sixth on: a loop."""
    desk = f"{name}.desk.example"

    def story() -> Story:
        agent, ours = service.client("send"), []
        for number in range(8):
            yield f"2026-12-01T10:{number + 1:02}:00Z"
            thread, theirs = f"thr-{name}-{number}", f"<theirs-{number}@{desk}>"
            fields = {"references": ours[-1:]} | ROUNDS[round_](desk, number)
            inbound(service, thread, theirs, **fields)
            asked = reply(agent, thread, theirs)
            if number < 5:
                permit = asked.ok(201)
                agent.redeem(permit["permit_id"]).ok()
                agent.report(permit["permit_id"], "sent").ok()
                ours.append(permit["message_id"])
            else:
                asked.no(429, "loop_guard")
                assert asked["retryable"] is True
        pages = [a for a in service.alerts("loop_guard") if name in a["summary"]]
        assert len(pages) == 1
        yield "2026-12-01T11:01:00Z"
        reply(agent, f"thr-{name}-7", f"<theirs-7@{desk}>").ok(201)

    tell(story())


@START
def test_threads_without_ties_are_no_loop(service: Service, name: str) -> None:
    agent = service.client("send")
    for number in range(7):
        inbound(
            service, f"{name}-{number}", f"<{number}@{name}>", from_=f"p{number}@{name}.example"
        )
        reply(agent, f"{name}-{number}", f"<{number}@{name}>").ok(201)


BY_HAND = {
    "before anything is asked": "first",
    "after the grant": "granted",
    "after the redeem": "redeemed",
    "before the message itself is told": "early",
}


@START
@pytest.mark.parametrize("when", BY_HAND)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["same thread", "another thread id"])
def test_answered_by_hand(when: str, elsewhere: bool, service: Service, name: str) -> None:
    agent, thread = service.client("send"), f"thr-{name}"
    c1, c2, hand = f"<c1.{name}@x>", f"<c2.{name}@x>", f"<hand.{name}@us>"

    def by_hand() -> None:
        where = f"desk-{name}" if elsewhere else thread
        told(service, where, hand, "outbound", to="pat@x.example", references=[c1], at=NOW)

    if BY_HAND[when] == "early":
        by_hand()
    inbound(service, thread, c1, from_=f"{name}@x.example")
    if BY_HAND[when] in ("granted", "redeemed"):
        permit = reply(agent, thread, c1).ok(201)["permit_id"]
        if BY_HAND[when] == "redeemed":
            agent.redeem(permit).ok()
    if BY_HAND[when] != "early":
        by_hand()
    if BY_HAND[when] == "granted":
        agent.redeem(permit).no(409, "revoked")
    if BY_HAND[when] == "redeemed":
        reply(agent, thread, c1).no(409, "permit_held")
        agent.report(permit, "rejected").ok()
    denied = reply(agent, thread, c1).no(409, "already_replied")
    assert denied["original"]["provider_message_id"] == hand
    assert denied["original"]["permit_id"] is None
    assert denied["original"]["sent_at"] == NOW
    inbound(service, thread, c2, from_=f"{name}@x.example", references=[c1, hand])
    reply(agent, thread, c2).ok(201)


@START
def test_our_own_permits_mail_is_no_answer_by_hand(service: Service, name: str) -> None:
    agent, thread, c1 = service.client("send"), f"thr-{name}", f"<c1.{name}@x>"
    inbound(service, thread, c1, from_=f"{name}@x.example")
    permit = reply(agent, thread, c1).ok(201)
    told(service, thread, permit["message_id"], "outbound", references=[c1])
    agent.redeem(permit["permit_id"]).ok()
    note = {"headers": {"Auto-Submitted": "auto-replied"}}
    inbound(service, thread, f"<c2.{name}@x>", from_=f"{name}@x.example")
    told(service, thread, f"<ack.{name}@us>", "outbound", references=[f"<c2.{name}@x>"], **note)
    reply(agent, thread, f"<c2.{name}@x>").ok(201)


ANSWERS: dict[str, dict[str, Any]] = {
    "a person": {},
    "out of office": {"headers": {"Auto-Submitted": "auto-replied"}},
    "a vacation program": {"headers": {"Precedence": "auto_reply"}},
    "a delivery report": {"headers": {"Content-Type": DELIVERY_STATUS}, "return_path": "<>"},
}


@START
@pytest.mark.parametrize("who", ANSWERS)
@pytest.mark.parametrize("granted_before", [False, True], ids=["", "step 2 granted before"])
def test_follow_up_after_the_answer(
    who: str, granted_before: bool, service: Service, name: str
) -> None:
    agent, thread = service.client("send"), f"thr-{name}"
    agent.send("follow_up", thread_id=thread, step=1, customer_id=f"cus-{name}")
    step = {"thread_id": thread, "step": 2}
    permit = agent.ask("follow_up", **step).ok(201)["permit_id"] if granted_before else ""
    inbound(service, thread, f"<a.{name}@x>", from_=f"{name}@x.example", **ANSWERS[who])
    if who == "a person" and granted_before:
        agent.redeem(permit).no(409, "revoked")
    if who == "a person":
        denied = agent.ask("follow_up", **step).no(409, "answered")
        assert denied["retryable"] is False
    elif granted_before:
        agent.redeem(permit).ok()
    else:
        agent.ask("follow_up", **step).ok(201)


@START
def test_a_follow_up_chases_our_mail_not_the_question_before_it(
    service: Service, name: str
) -> None:
    agent, thread = service.client("send"), f"thr-{name}"
    inbound(service, thread, f"<q.{name}@x>", from_=f"{name}@x.example")
    agent.send("reply", thread_id=thread, in_reply_to=f"<q.{name}@x>")
    agent.send("follow_up", thread_id=thread, step=1)
    inbound(service, thread, f"<a.{name}@x>", from_=f"{name}@x.example")
    agent.ask("follow_up", thread_id=thread, step=2).no(409, "answered")


@START
@pytest.mark.parametrize("third", ["sent", "granted", "unknown", "rejected"])
def test_follow_ups_in_order(third: str, service: Service, name: str) -> None:
    agent, thread = service.client("send"), f"thr-{name}"
    agent.send("follow_up", thread_id=thread, step=1, customer_id=f"cus-{name}")
    permit = agent.ask("follow_up", thread_id=thread, step=3).ok(201)["permit_id"]
    if third != "granted":
        agent.redeem(permit).ok()
        agent.report(permit, third).ok()
    asked = agent.ask("follow_up", thread_id=thread, step=2)
    if third == "rejected":
        asked.ok(201)
        return
    codes = {"sent": "superseded", "granted": "permit_held", "unknown": "outcome_unknown"}
    asked.no(409, codes[third])
    assert asked["permit_id"] == permit
    assert asked["retryable"] is (third != "sent")


@START
def test_a_late_step_is_not_handed_over_after_a_later_one(service: Service, name: str) -> None:
    agent, thread = service.client("send"), f"thr-{name}"
    second = agent.ask("follow_up", thread_id=thread, step=2, customer_id=name).ok(201)
    agent.send("follow_up", thread_id=thread, step=3)
    agent.redeem(second["permit_id"]).no(409, "revoked")


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
