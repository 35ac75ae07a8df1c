"""Problem documents: every field of the contract, on the denials that carry it."""

import re
import threading
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from ledger.domain.reasons import REASONS
from tests.support.service import Answer, Service

_FINAL = (
    "already_sent duplicate_intent already_replied outbound_message auto_generated own_message "
    "nothing_owed voided no_due_date stale_cycle amount_changed apology_already_sent not_paused"
).split()
_MAY_CHANGE = (
    "not_past_due not_reached stage_superseded balance_below_stage payment_in_flight on_hold "
    "permit_held outcome_unknown already_redeemed revoked expired not_owner"
).split()
_HUMAN = "breaker_open paused recovery_mode address_on_hold".split()

CONTRACT: dict[str, tuple[int, bool]] = (
    dict.fromkeys(
        "unknown_invoice unknown_thread unknown_message unknown_incident unknown_customer".split(),
        (404, False),
    )
    | dict.fromkeys(_FINAL, (409, False))
    | dict.fromkeys(_MAY_CHANGE, (409, True))
    | dict.fromkeys(_HUMAN, (409, False))
    | dict.fromkeys("key_conflict invalid_request unknown_intent".split(), (422, False))
    | {
        "cap_reached": (429, False),
        "loop_guard": (429, True),
        "clock_suspect": (503, True),
        "unavailable": (503, True),
        "already_settled": (409, False),
        "guard_not_proven": (409, False),
    }
)
"""Status and `retryable` of each code, as the table of the contract has them."""


def test_every_code_has_the_status_and_retryable_of_the_contract() -> None:
    served = {code: (reason.status, reason.retryable) for code, reason in REASONS.items()}
    assert {code: served[code] for code in CONTRACT} == CONTRACT
    added = {"unknown_permit", "answered", "superseded", "subscription_ended"}
    added |= {"too_late", "facts_stale", "reminded_recently", "similar_intent"}
    added |= {"key_limit", "riding_facts_refused", "rate_limited"}
    assert served.keys() - CONTRACT.keys() == added


@pytest.mark.parametrize(
    "code",
    [
        *REASONS,
        "unauthorized",
        "forbidden",
        "not_found",
        "method_not_allowed",
        "too_large",
        "bad_request",
        "request_timeout",
        "uri_too_long",
        "head_too_large",
        "bad_signature",
        "stale",
        "internal_error",
    ],
)
def test_every_type_is_a_page_that_says_what_to_do(code: str, shared_service: Service) -> None:
    page = shared_service.without_key().call("GET", f"/problems/{code}").ok()
    assert page.headers["content-type"].startswith("text/html")
    assert code in page.text
    happened, remedy = re.findall(r"<h2>[\w ]+</h2>\n<p>(.+)</p>", page.text)
    assert len(happened + remedy) > 20, "the page has no line of docs/denials.md"
    assert "`" not in page.text
    assert "](" not in page.text
    assert "{{" not in page.text


@pytest.mark.parametrize(
    ("body", "at", "told"),
    [
        ({}, "kind", "this field is needed: one of reminder, payment_failed, reply"),
        ({"kind": "remindr"}, "kind", "it is none of reminder, payment_failed, reply"),
    ],
)
def test_a_kind_that_is_missing_or_wrong_is_told_in_plain_words(
    body: dict[str, str], at: str, told: str, shared_service: Service
) -> None:
    answer = shared_service.post("/v1/permits", body).no(422, "invalid_request")
    assert answer["detail"].startswith(f"{at}: {told}")
    assert answer["errors"][0]["at"] == at
    shared_service.get("/v1/invoices/").no(422, "invalid_request")
    assert "it must not be empty" in shared_service.get("/v1/invoices/").text


def test_there_is_no_page_of_a_code_that_is_none(shared_service: Service) -> None:
    for code in ("nothing", "..%2f..%2fetc%2fpasswd", "<script>"):
        answer = shared_service.without_key().call("GET", f"/problems/{code}")
        answer.no(404, "not_found")


def _fields(problem: Answer) -> set[str]:
    assert isinstance(problem["detail"], str)
    assert problem["detail"]
    assert isinstance(problem["title"], str)
    assert problem["retryable"] is CONTRACT[str(problem.code)][1]
    return set(problem.body)


_ALWAYS = {"type", "title", "status", "detail", "code", "retryable"}


def test_a_duplicate_names_its_original(service: Service, name: str) -> None:
    due_on = (service.clock - timedelta(days=4)).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    poller = service.client("send", name=f"poller {name}")
    permit = poller.remind(name).ok(201)["permit_id"]
    poller.redeem(permit).ok()
    service.advance(seconds=30)
    poller.report(permit, "sent", provider="resend", provider_message_id=f"re_{name}").ok()
    sent_at = service.clock
    service.advance(minutes=5)
    problem = service.remind(name, "day-3").no(409, "already_sent")
    assert _fields(problem) >= _ALWAYS | {"decision_id", "original"}
    assert problem["permit_id"] == permit
    original: dict[str, Any] = problem["original"]
    assert original == {
        "permit_id": permit,
        "sender": f"poller {name}",
        "sent_at": sent_at.isoformat().replace("+00:00", "Z"),
        "provider_message_id": f"re_{name}",
    }
    decision = service.get(f"/v1/decisions/{problem['decision_id']}").ok()
    assert (decision["status"], decision["code"]) == (409, "already_sent")


def test_a_held_permit_is_named_but_not_as_an_original(service: Service, name: str) -> None:
    fields = {"thread_id": name, "intent": "hello", "customer_id": name}
    permit = service.ask("message", **fields).ok(201)
    problem = service.ask("message", **fields).no(409, "permit_held")
    assert problem["permit_id"] == permit["permit_id"]
    assert "original" not in _fields(problem)
    assert problem["retryable"] is True


def test_waiting_helps_until_available_at(service: Service, name: str) -> None:
    due_on = (service.clock + timedelta(days=1)).date()
    service.put_invoice(name, due_on=due_on.isoformat()).ok()
    problem = service.remind(name, "day-7").no(409, "not_past_due")
    assert "available_at" in _fields(problem)
    reached = datetime.fromisoformat(problem["available_at"])
    assert reached.date() == due_on + timedelta(days=7)
    service.move_clock(reached - timedelta(seconds=1))
    service.remind(name, "day-7").no(409, "not_reached")
    service.move_clock(reached)
    service.remind(name, "day-7").ok(201)


def test_a_superseded_stage_names_the_one_that_is_due(service: Service, name: str) -> None:
    due_on = (service.clock - timedelta(days=8)).date().isoformat()
    service.put_invoice(name, due_on=due_on).ok()
    problem = service.remind(name, "day-3").no(409, "stage_superseded")
    assert problem["due_stage"] == "day-7"
    assert problem["withheld"][0]["due_stage"] == "day-7"


def test_loop_guard_says_when_to_come_back(service: Service, name: str) -> None:
    for number in range(6):
        message = {
            "thread_id": name,
            "message_id": f"<{number}.{name}@example.com>",
            "direction": "inbound",
            "from": f"{name}@example.com",
            "to": "us@example.net",
            "at": service.clock.isoformat(),
        }
        answer = service.ask(
            "reply", thread_id=name, in_reply_to=message["message_id"], message=message
        )
        if number < 5:
            answer.ok(201)
            service.advance(minutes=1)
    problem = answer.no(429, "loop_guard")
    assert problem["retryable"] is True
    wait = int(problem.headers["retry-after"])
    available_at = datetime.fromisoformat(problem["available_at"])
    assert available_at == service.clock + timedelta(seconds=wait)
    assert 0 < wait <= 3600
    assert len(service.alerts("loop_guard", f"{_customer_of(service, name)}")) == 1


def _customer_of(service: Service, thread: str) -> str:
    decisions = service.get("/v1/decisions", thread_id=thread).ok()["items"]
    customer: str = decisions[0]["customer_id"]
    return customer


def test_cap_reached_is_not_retryable_and_opens_the_breaker(service: Service, name: str) -> None:
    for number in range(2):
        service.ask("notification", customer_id=name, event_type="t", event_id=str(number)).ok(201)
    problem = service.ask("notification", customer_id=name, event_type="t", event_id="3")
    problem.no(429, "cap_reached")
    assert problem["retryable"] is False
    assert "retry-after" not in problem.headers
    again = service.ask("notification", customer_id=name, event_type="t", event_id="4")
    again.no(409, "breaker_open")
    assert again["retryable"] is False
    assert len(service.alerts("breaker_opened", name)) == 1


def test_a_store_that_is_down_is_503_and_says_when_to_come_back(
    service: Service, name: str
) -> None:
    """The writer lock is held by somebody silent, and the wait for it ends: nothing is granted."""
    fields = {"thread_id": name, "intent": "hello", "customer_id": name}
    answers: list[Answer] = []
    with (
        psycopg.connect(service.database) as holder,
        psycopg.connect(service.database, autocommit=True) as other,
    ):
        holder.execute("SELECT 1 FROM partitions WHERE partition = 0 FOR UPDATE")
        asking = threading.Thread(target=lambda: answers.append(service.ask("message", **fields)))
        asking.start()
        other.execute("SELECT pg_cancel_backend(%s)", [service.backend_that_waits()])
        asking.join()
    problem = answers[0].no(503, "unavailable")
    assert problem["retryable"] is True
    assert int(problem.headers["retry-after"]) >= 1
    service.ask("message", **fields).ok(201)
