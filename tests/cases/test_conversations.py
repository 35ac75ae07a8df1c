"""Cases about conversations: threads that are one, answers by hand, follow-ups."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases.talking import inbound, reply, told
from tests.cases.timeline import Story
from tests.support.service import Service

NOW = "2026-12-01T10:00:00Z"
START = pytest.mark.starts(NOW)
DELIVERY_STATUS = 'multipart/report; report-type=delivery-status; boundary="b1"'


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
