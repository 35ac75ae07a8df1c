"""Cases about windows: rolling, over all senders, and not the same for replies and notices."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.cases.timeline import Story
from tests.support.service import Answer, Client, Service

_SECOND = timedelta(seconds=1)


def _notice(client: Client, customer: str, event: str) -> Answer:
    return client.ask("notification", customer_id=customer, event_type="t", event_id=event)


def _pages(service: Service, customer: str) -> int:
    return len(service.alerts("breaker_opened", customer))


@pytest.mark.starts("2026-08-10T12:00:00Z")
def test_rolling_window_midnight(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(run: str, third: str) -> Story:
        customer = f"{name}-{run}-{third}"
        dunning, agent, other = (service.client("send") for _ in range(3))
        service.put_invoice(customer, customer_id=customer, due_on="2026-08-01").ok()
        yield "2026-08-10T23:50:00Z"
        dunning.send("reminder", invoices=[customer])
        yield "2026-08-10T23:55:00Z"
        agent.send("message", thread_id=customer, intent="x", customer_id=customer)
        yield {"A": "2026-08-11T00:05:00Z", "B": "2026-08-11T23:49:59Z"}.get(
            run, "2026-08-11T23:50:00Z"
        )
        if third == "notice":
            answer = _notice(other, customer, "third")
        else:
            answer = agent.ask("follow_up", thread_id=customer, step=1)
        if run == "C":
            assert answer.ok(201)["windows"]["outreach_24h"]["used"] == 2
            return
        problem = answer.no(429, "cap_reached")
        assert problem["frees_at"] == "2026-08-11T23:50:00Z"
        assert (service.breaker(customer), _pages(service, customer)) == ("open", 1)
        _notice(other, customer, "fourth").no(409, "breaker_open")
        assert _pages(service, customer) == 1

    tell(*[story(run, third) for run in "ABC" for third in ("notice", "follow-up")])


@pytest.mark.starts("2026-10-20T00:00:00Z")
def test_the_edge_is_the_same_for_every_window(
    service: Service, tell: Callable[..., None], name: str
) -> None:
    """A mail exactly as old as the window no longer counts; a microsecond younger it does."""

    def transactional(customer: str, sooner: timedelta) -> Story:
        receipts = service.client("send", redeem="optional", **{"class": "transactional"})
        start = service.clock + timedelta(minutes=1)
        yield start
        for number in range(20):
            permit = _notice(receipts, customer, str(number)).ok(201)["permit_id"]
            receipts.report(permit, "sent").ok()
        yield start + timedelta(hours=24) - sooner
        answer = _notice(receipts, customer, "last")
        answer.no(429, "cap_reached") if sooner else answer.ok(201)

    def replies(thread: str, sooner: timedelta) -> Story:
        agent = service.client("send", redeem="optional")
        start = service.clock + timedelta(minutes=1)
        yield start
        for number in range(6):
            if number == 5:
                yield start + timedelta(hours=1) - sooner
            message = _inbound(service, thread, str(number))
            asked = {"thread_id": thread, "in_reply_to": message["message_id"]}
            answer = agent.ask("reply", **asked, message=message)
            if number < 5:
                agent.report(answer.ok(201)["permit_id"], "sent").ok()
        answer.no(429, "loop_guard") if sooner else answer.ok(201)

    tell(
        *[transactional(f"{name}-t-{n}", sooner) for n, sooner in enumerate(_EDGES)],
        *[replies(f"{name}-r-{n}", sooner) for n, sooner in enumerate(_EDGES)],
    )


_EDGES = (timedelta(0), timedelta(microseconds=1), _SECOND)


def _inbound(service: Service, thread: str, number: str, **fields: Any) -> dict[str, Any]:
    return {
        "thread_id": thread,
        "message_id": f"<{number}.{thread}@example.com>",
        "direction": "inbound",
        "from": f"{thread}@example.com",
        "to": "us@example.net",
        "at": service.clock.isoformat(),
    } | fields


@pytest.mark.starts("2026-11-02T00:00:00Z")
def test_many_invoices_one_morning(service: Service, tell: Callable[..., None], name: str) -> None:
    def owing(customer: str) -> list[str]:
        ids = [f"{customer}-{part}" for part in "abcd"]
        for id_ in ids:
            service.put_invoice(id_, customer_id=customer, due_on="2026-11-02").ok()
        return ids

    def one_by_one(customer: str, order: Callable[[list[str]], list[str]]) -> Story:
        sender = service.client("send")
        ids = order(owing(customer))
        yield "2026-11-05T08:00:00Z"
        sender.remind(ids[0], "day-3").ok(201)
        sender.remind(ids[1], "day-3").ok(201)
        sender.remind(ids[2], "day-3").no(429, "cap_reached")
        sender.remind(ids[3], "day-3").no(409, "breaker_open")
        assert (service.breaker(customer), _pages(service, customer)) == ("open", 1)
        assert [service.stages(id_)["day-3"] for id_ in ids[2:]] == ["due", "due"]

    def in_one_mail(customer: str) -> Story:
        sender = service.client("send")
        ids = owing(customer)
        yield "2026-11-05T08:00:00Z"
        permit = sender.ask("reminder", invoices=ids, stage="day-3").ok(201)
        assert [item["invoice_id"] for item in permit["items"]] == ids
        assert permit["windows"]["outreach_24h"]["used"] == 1
        assert (service.breaker(customer), _pages(service, customer)) == ("closed", 0)

    def claimed(customer: str) -> Story:
        sender = service.client("send")
        ids = owing(customer)
        yield "2026-11-05T09:00:00Z"
        permits = sender.post("/v1/due/claim", {"limit": 1000}).ok()["permits"]
        (permit,) = [p for p in permits if p["customer_id"] == customer]
        assert sorted(item["invoice_id"] for item in permit["items"]) == ids
        assert service.breaker(customer) == "closed"

    tell(
        one_by_one(f"{name}-1", list),
        one_by_one(f"{name}-2", lambda ids: ids[::-1]),
        in_one_mail(f"{name}-3"),
        claimed(f"{name}-4"),
    )


@pytest.mark.starts("2026-05-17T10:00:00Z")
def test_replies_versus_notices(service: Service, tell: Callable[..., None], name: str) -> None:
    def reply(client: Client, thread: str, number: str) -> Answer:
        return client.ask("reply", thread_id=thread, in_reply_to=f"<{number}.{thread}@example.com>")

    def story(thread: str, notices: int) -> Story:
        agent, other = service.client("send"), service.client("send")
        customer = {"customer_id": thread}
        service.fact("thread.message", _inbound(service, thread, "1", **customer))
        yield "2026-05-17T10:05:00Z"
        reply(agent, thread, "1").ok(201)
        for number in range(notices):
            noted = {"customer_id": thread, "event_type": "t", "event_id": str(number)}
            other.send("notification", **noted)
        yield "2026-05-17T10:20:00Z"
        service.fact("thread.message", _inbound(service, thread, "2", **customer))
        yield "2026-05-17T10:25:00Z"
        reply(other, thread, "2").ok(201)
        yield "2026-05-17T10:40:00Z"
        service.fact("thread.message", _inbound(service, thread, "3", **customer))
        yield "2026-05-17T10:45:00Z"
        reply(agent, thread, "3").ok(201)
        reply(other, thread, "3").no(409, "permit_held")
        assert service.breaker(thread) == "closed"
        if notices == 2:
            _notice(other, thread, "3").no(429, "cap_reached")
            service.fact("thread.message", _inbound(service, thread, "4", **customer))
            reply(agent, thread, "4").ok(201)

    def fresh_thread_each_reply(customer: str) -> Story:
        """The ceiling over all threads, for an agent that starts a new one each time."""
        agent = service.client("send")
        moment = datetime.fromisoformat("2026-05-17T11:00:00+00:00")
        for number in range(7):
            yield moment + number * timedelta(minutes=1)
            thread = f"{customer}-{number}"
            message = _inbound(service, thread, "1", customer_id=customer)
            asked = {"thread_id": thread, "in_reply_to": message["message_id"]}
            answer = agent.ask("reply", **asked, message=message)
            if number < 5:
                answer.ok(201)
            elif number == 5:
                answer.no(429, "cap_reached")
            else:
                answer.no(409, "breaker_open")
        breaker = service.get(f"/v1/customers/{customer}").ok()["breaker"]
        assert (breaker["state"], breaker["scope"]) == ("open", "all")

    tell(
        story(f"{name}-1", 0),
        story(f"{name}-2", 2),
        fresh_thread_each_reply(f"{name}-3"),
    )
