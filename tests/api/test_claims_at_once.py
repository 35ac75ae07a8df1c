"""Claims at once, and right after one another: each finds what the others left."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest

from tests.support.service import Client, Service

_SECONDS = 20


def _overdue(service: Service, *names: str, days: int = 4) -> set[str]:
    """An invoice so many days past due of each customer, seen by the read models."""
    due_on = (service.clock - timedelta(days=days)).date().isoformat()
    for name in names:
        told = service.put_invoice(f"{name}-{days}", customer_id=name, due_on=due_on).ok()
    service.get("/v1/due", after=told["position"]).ok()
    return set(names)


def _claim(claimer: Client, limit: int, stage: str | None = None) -> set[str]:
    """The customers of the permits; nobody was asked for in vain."""
    answer = claimer.post("/v1/due/claim", {"limit": limit, "stage": stage}).ok()
    assert answer["withheld"] == []
    return {permit["customer_id"] for permit in answer["permits"]}


@contextmanager
def _writer_locked_out(service: Service) -> Iterator[None]:
    """Nothing is decided meanwhile."""
    with psycopg.connect(service.database) as db:
        db.execute("SELECT FROM partitions FOR UPDATE")
        yield
        db.rollback()


def _until_queued(service: Service, commands: int) -> None:
    give_up = time.monotonic() + _SECONDS
    while time.monotonic() < give_up:
        for line in service.get("/metrics").text.splitlines():
            name, _, value = line.partition(" ")
            if name == "send_ledger_queue_length" and float(value) >= commands:
                return
    raise AssertionError(f"never were {commands} commands in the queue")


def test_claims_at_once_ask_for_different_customers(
    service: Service, claimer: Client, name: str
) -> None:
    everyone = _overdue(service, *(f"{name}-{n}" for n in range(6)))
    other = service.client("send")
    claimed: list[set[str]] = []

    def claim(caller: Client, limit: int) -> threading.Thread:
        thread = threading.Thread(target=lambda: claimed.append(_claim(caller, limit)))
        thread.start()
        return thread

    with _writer_locked_out(service):
        first = claim(claimer, 2)
        service.backend_that_waits()
        second = claim(other, 4)
        _until_queued(service, 4)
    first.join()
    second.join()
    assert sorted(map(len, claimed)) == [2, 4]
    assert claimed[0] | claimed[1] == everyone


def test_a_claim_passes_over_what_the_read_models_cannot_know_yet(
    service: Service, claimer: Client, name: str, request: pytest.FixtureRequest
) -> None:
    everyone = _overdue(service, *(f"{name}-{n}" for n in range(5)))
    assert _claim(claimer, 1) == {f"{name}-0"}
    request.getfixturevalue("stalled")
    assert _claim(claimer, 2) | _claim(claimer, 2) == everyone - {f"{name}-0"}


def test_what_else_is_due_of_who_has_just_got_a_permit_is_found(
    service: Service, claimer: Client, name: str
) -> None:
    _overdue(service, name, days=8)
    everyone = _overdue(service, name, days=4)
    assert _claim(claimer, 10, "day-7") == everyone
    assert _claim(claimer, 10) == everyone
    assert _claim(claimer, 10) == set()


def test_an_invoice_paid_a_moment_ago_is_not_asked_for(
    service: Service, claimer: Client, name: str
) -> None:
    everyone = _overdue(service, *(f"{name}-{n}" for n in range(3)))
    assert _claim(claimer, 1) == {f"{name}-0"}
    service.put_invoice(
        f"{name}-1-4", customer_id=f"{name}-1", amount_remaining=0, status="paid"
    ).ok()
    assert _claim(claimer, 3) == everyone - {f"{name}-0", f"{name}-1"}
