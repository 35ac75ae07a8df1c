"""A Celery task that sends at most once, run in this process as often as a queue would run it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from celery import Celery
from clients.python.tests.stub import PERMIT_ID, Stub, lost, no

from sendledger import InDoubt, Ledger, Permit, Refused, kinds
from sendledger.adapters.celery import send_in_task

app = Celery("mails", broker="memory://", backend="cache+memory://")
app.conf.task_always_eager = True
waits: list[float] = []
RUNNING: dict[str, Any] = {}


class Mailer:
    """Fails as told, then sends."""

    def __init__(self, *errors: Exception) -> None:
        self.errors, self.mails = list(errors), 0

    def __call__(self, permit: Permit) -> str:
        if self.errors:
            raise self.errors.pop(0)
        self.mails += 1
        return "re_1"


class Waiting(app.Task):  # type: ignore[misc, name-defined]
    """Notes how long a retry would wait; a task that runs at once does not wait."""

    def retry(self, *given: Any, countdown: float = 0, **more: Any) -> Any:
        """Retry."""
        waits.append(countdown)
        return super().retry(*given, countdown=countdown, **more)


@app.task(bind=True, base=Waiting, max_retries=3)
def shipped(self: Any, order_id: str) -> dict[str, Any]:
    """The task under test: a program has its client and its mailer in the module, too."""
    ask = kinds.notification(event_type="shipped", event_id=order_id, customer_id="C1")
    return send_in_task(self, RUNNING["ledger"], ask, send=RUNNING["mailer"])


def run(mailer: Mailer) -> Any:
    """What the task comes to."""
    RUNNING["mailer"] = mailer
    return shipped.delay("9").get()


@pytest.fixture(autouse=True)
def ledger(stub: Stub) -> Iterator[Ledger]:
    """A client on the stand-in."""
    waits.clear()
    with Ledger("http://ledger.test", "slk_test", transport=stub.transport, pace=stub.pace) as made:
        RUNNING["ledger"] = made
        yield made


def test_it_sends_and_a_duplicate_hears_of_the_first_send(stub: Stub) -> None:
    mailer = Mailer()
    sent = {"state": "sent", "permit_id": PERMIT_ID, "provider_message_id": "re_1"}
    assert run(mailer) == {**sent, "duplicate": False}
    original = {"permit_id": PERMIT_ID, "provider_message_id": "re_1"}
    stub.then("permits", no(409, "already_sent", original=original))
    assert run(mailer) == {**sent, "duplicate": True}
    assert mailer.mails == 1


def test_it_waits_while_the_ledger_is_away_and_after_a_refusal(stub: Stub) -> None:
    mailer = Mailer(Refused("451"))
    stub.then("permits", *[lost] * 20)
    assert run(mailer)["state"] == "sent"
    assert mailer.mails == 1
    assert set(waits) == {60.0}


def test_it_waits_until_the_ledger_may_say_yes(stub: Stub) -> None:
    at = (datetime.now(timezone.utc) + timedelta(seconds=300)).isoformat()
    held = no(409, "on_hold", retryable=True, next_action="retry_at", available_at=at)
    stub.then("permits", held, no(429, "loop_guard", {"Retry-After": "17"}, retryable=True))
    result = run(Mailer())
    assert 290 < waits[0] <= 300
    assert (len(waits), result["code"]) == (1, "loop_guard")


def test_a_no_that_waiting_does_not_change_is_the_result(stub: Stub) -> None:
    mailer = Mailer()
    stub.then("permits", no(409, "outcome_unknown", retryable=True, next_action="find_out"))
    result = run(mailer)
    assert (result["state"], result["code"], result["next_action"]) == (
        "denied",
        "outcome_unknown",
        "find_out",
    )
    assert (waits, mailer.mails) == ([], 0)


def test_a_mail_in_doubt_fails_the_task_and_is_not_tried_again(stub: Stub) -> None:
    with pytest.raises(InDoubt):
        run(Mailer(InDoubt("no answer")))
    assert waits == []
    assert [body["outcome"] for body in stub.bodies("outcome")] == ["unknown"]
