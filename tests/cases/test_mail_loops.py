"""Cases about machines that answer machines, the same event twice, and keys that are reused."""

import threading
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.cases.at_once import at_once
from tests.cases.timeline import Story
from tests.support.postgres import superuser
from tests.support.service import Answer, Client, Service

_REPORT = "multipart/report; report-type=delivery-status"
MACHINES: dict[str, dict[str, Any]] = {
    "a delivery report": {"return_path": "<>", "headers": {"Content-Type": _REPORT}},
    "an empty return path": {"return_path": "<>"},
    "a vacation note": {"headers": {"Auto-Submitted": "auto-replied"}},
    "a list": {"headers": {"Precedence": "list"}},
}


@pytest.mark.starts("2026-05-27T08:00:00Z")
def test_bounce_is_not_a_reply(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(what: str) -> Story:
        thread = f"{name}-{what}".replace(" ", "-")
        sender, webhook = service.client("send"), service.client("send")
        yield "2026-05-27T09:00:00Z"
        notice = sender.ask("message", thread_id=thread, intent="notice", customer_id=thread).ok(
            201
        )
        sender.redeem(notice["permit_id"]).ok()
        sent = {"provider": "resend", "provider_message_id": f"re-{thread}"}
        sender.report(notice["permit_id"], "sent", **sent).ok()
        yield "2026-05-27T09:00:40Z"
        service.fact(
            "thread.message",
            {
                "thread_id": thread,
                "message_id": f"<bounce.{thread}@mx.example>",
                "direction": "inbound",
                "from": "MAILER-DAEMON@mx.example",
                "to": "us@ours.example",
                "customer_id": thread,
                "at": "2026-05-27T09:00:40Z",
                "references": [notice["message_id"]],
            }
            | MACHINES[what],
        )
        yield "2026-05-27T09:00:45Z"
        asked = {"thread_id": thread, "in_reply_to": f"<bounce.{thread}@mx.example>"}
        for client in (webhook, sender):
            client.ask("reply", **asked).no(409, "auto_generated")
        customer = service.get(f"/v1/customers/{thread}").ok()
        assert customer["windows"]["outreach_24h"]["used"] == 1
        assert customer["windows"]["replies_1h"]["used"] == 0
        events = service.get("/v1/events", aggregate=f"thread:{thread}").ok()["items"]
        assert [e for e in events if f"<bounce.{thread}@mx.example>" in str(e["state"])]

    tell(*[story(what) for what in MACHINES])


@pytest.mark.starts("2026-07-31T10:00:00Z")
def test_same_event_in_parallel(service: Service, name: str) -> None:
    handlers = [service.client("send", "facts") for _ in range(4)]
    for round_ in range(6):
        id_ = f"{name}-{round_}"
        service.put_invoice(id_, customer_id=id_).ok()
        data = {"invoice_id": id_, "event_id": f"evt-{id_}", "attempt_id": f"pi-{id_}"}
        event = {"id": f"evt-{id_}", "source": "billing", "type": "invoice.payment_failed"}
        body = {"facts": [event | {"data": data}]}
        answers = at_once(*[partial(c.post, "/v1/facts", body) for c in handlers])
        results = sorted(answer.ok()["results"][0]["result"] for answer in answers)
        assert results == ["applied", "duplicate", "duplicate", "duplicate"]
        answers = at_once(
            *[partial(c.ask, "payment_failed", idem=str(uuid.uuid4()), **data) for c in handlers]
        )
        assert sorted(a.code or "granted" for a in answers) == ["granted"] + ["permit_held"] * 3
        events = service.get("/v1/events", aggregate=f"invoice:{id_}").ok()["items"]
        noted = [e for e in events if e["topic"].endswith("PaymentFailureNoted")]
        assert len(noted) == 1


@pytest.mark.starts("2026-09-01T12:00:00Z")
def test_seen_but_not_handled(service: Service, tell: Callable[..., None], name: str) -> None:
    def story() -> Story:
        sender = service.client("send", "facts")
        fields: dict[str, Any] = {"customer_id": name, "currency": "EUR", "total": 7_500}
        service.put_invoice(name, due_on="2026-09-01", **fields).ok()
        yield "2026-09-04T08:00:00Z"
        sender.send("reminder", invoices=[name], stage="day-3")
        yield "2026-09-08T09:00:00Z"
        data = {"invoice_id": name, "payment_id": "p", "amount": 7_500, "state": "succeeded"}
        event = {"id": f"evt-{name}", "source": "billing", "type": "invoice.payment", "data": data}
        event["time"] = "2026-09-08T09:00:00Z"
        with _applying_fails(service):
            failed = sender.post("/v1/facts", {"facts": [event]})
            assert failed.status >= 500
        assert service.get(f"/v1/invoices/{name}").ok()["amount_remaining"] == 7_500
        yield "2026-09-08T09:05:00Z"
        again = sender.post("/v1/facts", {"facts": [event]}).ok()
        assert again["results"][0]["result"] == "applied"
        third = sender.post("/v1/facts", {"facts": [event]}).ok()
        assert third["results"][0]["result"] == "duplicate"
        yield "2026-09-08T09:10:00Z"
        sender.remind(name, "day-7").no(409, "nothing_owed")

    tell(story())


class _applying_fails:
    """While it lasts, the database refuses every event about an invoice."""

    def __init__(self, service: Service) -> None:
        self._conninfo = service.database

    def __enter__(self) -> None:
        self._run(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no room'; END $$",
            "CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW"
            " WHEN (NEW.topic LIKE 'ledger:Invoice.%') EXECUTE FUNCTION refuse()",
        )

    def __exit__(self, *error: object) -> None:
        self._run("DROP TRIGGER refuse ON events", "DROP FUNCTION refuse()")

    def _run(self, *statements: str) -> None:
        name = str(conninfo_to_dict(self._conninfo)["dbname"])
        with superuser(self._conninfo, name) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@pytest.mark.starts("2026-09-07T10:00:00Z")
@pytest.mark.parametrize("run", ["rolled back", "committed"])
def test_in_flight_twin(run: str, service: Service, name: str) -> None:
    """B arrives while A waits for the writer lock, which somebody else holds meanwhile."""
    service.put_invoice(name, customer_id=name, due_on="2026-09-01").ok()
    sender = service.client("send")
    twin = Client(next(service.connections), sender.key)
    asked = {"kind": "reminder", "invoices": [name], "stage": "day-3"}
    answers: list[Answer] = []

    def ask(client: Client) -> None:
        answers.append(client.post("/v1/permits", asked, key="K"))

    with psycopg.connect(service.database, autocommit=True) as db:
        with db.transaction():
            db.execute("SELECT 1 FROM partitions WHERE partition = 0 FOR UPDATE")
            first = threading.Thread(target=ask, args=[sender])
            first.start()
            waiting = service.backend_that_waits()
            second = threading.Thread(target=ask, args=[twin])
            second.start()
            if run == "rolled back":
                with psycopg.connect(service.database, autocommit=True) as other:
                    other.execute("SELECT pg_cancel_backend(%s)", [waiting])
                first.join(10)
        first.join()
        second.join()
    granted = [a for a in answers if a.status == 201]
    assert {a.status for a in answers} <= {200, 201, 503}
    if run == "committed":
        assert sorted(a.status for a in answers) == [200, 201]
    retried = twin.post("/v1/permits", asked, key="K")
    assert retried.status == (200 if granted else 201)
    ids = {a["permit_id"] for a in (*answers, retried) if a.status < 300}
    assert len(ids) == 1
    assert service.get(f"/v1/customers/{name}").ok()["windows"]["outreach_24h"]["used"] == 1


@pytest.mark.starts("2026-07-03T08:00:00Z")
def test_same_key_other_content(service: Service, tell: Callable[..., None], name: str) -> None:
    def story() -> Story:
        agent = service.client("send")
        body = {"kind": "message", "thread_id": f"T39-{name}", "intent": "invoice_copy"}
        body["customer_id"] = f"C39-{name}"
        key = f"K-{name}"
        yield "2026-07-03T09:00:00Z"
        first = agent.post("/v1/permits", body | {"metadata": {"trace": "t1"}}, key=key).ok(201)
        yield "2026-07-03T09:00:30Z"
        again = agent.post("/v1/permits", body | {"metadata": {"trace": "t2"}}, key=key).ok(200)
        assert again.body == first.body
        yield "2026-07-03T09:01:00Z"
        other = body | {"customer_id": f"C40-{name}"}
        agent.post("/v1/permits", other, key=key).no(422, "key_conflict")
        yield "2026-07-03T09:02:00Z"
        pairs = ((f"C39b-{name}", f"{name}a:b", "c"), (f"C39c-{name}", f"{name}a", "b:c"))
        for customer, thread, intent in pairs:
            pair = {"thread_id": thread, "intent": intent, "customer_id": customer}
            agent.ask("message", idem=str(uuid.uuid4()), **pair).ok(201)

    tell(story())


@pytest.mark.starts("2026-09-01T09:00:00Z")
def test_deliberate_later_send(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(kind: str) -> Story:
        thread = f"T41-{name}-{kind}"
        agent, human = service.client("send"), service.client("send", "operate")
        send: dict[str, Any] = {"thread_id": thread}
        send |= {"intent": "invoice_copy"} if kind == "message" else {"step": 1}
        duplicate = "duplicate_intent" if kind == "message" else "already_sent"
        yield "2026-09-01T10:00:00Z"
        agent.send(kind, **send, customer_id=thread)
        yield "2026-09-05T14:00:00Z"
        message = {"thread_id": thread, "message_id": f"<m41.{thread}@example.com>"}
        message |= {"direction": "inbound", "from": f"{thread}@example.com"}
        service.fact("thread.message", message | {"at": "2026-09-05T14:00:00Z"})
        yield "2026-09-05T14:05:00Z"
        override = {"action_id": f"op-7-{thread}", "by": "ann", "reason": "it never came: M41"}
        permit = human.ask(kind, **send, override=override).ok(201)
        assert permit["windows"]["outreach_24h"]["used"] == 1
        yield "2026-09-05T14:05:02Z"
        human.ask(kind, **send, override=override).no(409, "already_sent")
        yield "2026-09-05T14:06:00Z"
        agent.ask(kind, **send).no(409, duplicate)
        agent.ask(kind, **send, override=override | {"action_id": "op-8"}).no(403, "forbidden")

    tell(story("message"), story("follow_up"))


@pytest.mark.starts("2026-06-03T00:00:00Z")
def test_timeout_but_delivered(service: Service, tell: Callable[..., None], name: str) -> None:
    def story(settled_by: str) -> Story:
        id_ = f"{name}-{settled_by}"
        sender, other = service.client("send"), service.client("send")
        fields: dict[str, Any] = {"customer_id": id_, "currency": "EUR", "total": 50_000}
        service.put_invoice(id_, due_on="2026-06-03", **fields).ok()
        yield "2026-06-06T08:00:00Z"
        sender.send("reminder", invoices=[id_], stage="day-3")
        yield "2026-06-10T14:09:00Z"
        permit = sender.remind(id_, "day-7", redeem=True).ok(201)
        yield "2026-06-10T14:09:48Z"
        named = {"provider": "resend", "provider_message_id": f"re-{id_}"}
        sender.report(permit["permit_id"], "unknown", **named).ok()
        for hour, minute in ((14, 15), (14, 25), (15, 5), (15, 45), (17, 55)):
            yield f"2026-06-10T{hour}:{minute:02}:00Z"
            client = other if minute == 25 else sender
            problem = client.remind(id_, "day-7", idem=str(uuid.uuid4()))
            problem.no(409, "outcome_unknown")
            assert problem["permit_id"] == permit["permit_id"]
            assert problem["retryable"] is True
        assert service.alerts("permit_unknown")
        yield "2026-06-10T18:00:00Z"
        if settled_by == "the provider's id":
            service.fact("delivery", {"event": "delivered"} | named)
        elif settled_by == "our Message-ID":
            named = {"provider": "ses", "message_id": permit["message_id"]}
            service.fact("delivery", {"event": "delivered"} | named)
        elif settled_by == "a late report":
            sender.report(permit["permit_id"], "sent").ok()
        else:
            service.client("operate").report(permit["permit_id"], "sent").ok()
        sender.remind(id_, "day-7", idem=str(uuid.uuid4())).no(409, "already_sent")
        assert service.get(f"/v1/permits/{permit['permit_id']}").ok()["state"] == "sent"
        late = sender.report(permit["permit_id"], "sent").ok()
        assert late["state"] == "sent"

    ways = ("the provider's id", "our Message-ID", "a late report", "a human")
    tell(*[story(way) for way in ways])
