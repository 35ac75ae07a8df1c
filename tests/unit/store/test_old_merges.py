"""A ledger of before corrections, partings, credit and copies: its events and permits are read on.

`merged_customers.json` was written by that version: a mail to each of two customers, the first one
before they were merged, and a snapshot of its own form.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ledger.domain.customer import Customer
from ledger.store.log.transcoding import SNAPSHOT_TOPICS, read_event, write_state
from tests.support.build import (
    AGENT,
    at,
    corrected,
    customer_credit,
    minutes,
    notification,
    report,
    unmerged,
)
from tests.support.given import Scenario, given
from tests.support.memory import StoredRow

_STORED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "old_events" / "merged_customers.json").read_text("utf-8")
)
A, B = "cus_a", "cus_b"


@pytest.fixture
def old() -> Scenario:
    """The ledger as that version left it, opened by this one."""
    uses_up_ids = (notification(str(n)) for n in range(len(_STORED["events"])))
    scenario = given(*uses_up_ids)
    store = scenario.store
    store.decisions.clear()
    store.now = at(_STORED["now"])
    store.rows = [
        StoredRow(
            UUID(row["id"]),
            row["version"],
            row["topic"],
            json.dumps(row["state"]).encode(),
            datetime.fromisoformat(row["at"]),
        )
        for row in _STORED["events"]
    ]
    store.permits = {name: json.dumps(p).encode() for name, p in _STORED["permits"].items()}
    store.names = {(kind, name): target for kind, name, target in _STORED["names"]}
    store.contacts = {(a, b): text for a, b, text in _STORED["contacts"]}
    scenario.granted = list(_STORED["permits"])
    return scenario


def test_old_events_come_back_as_they_were() -> None:
    for row in _STORED["events"]:
        event = read_event(UUID(row["id"]), row["version"], row["topic"], dict(row["state"]))
        written = json.loads(write_state(event))
        known = {name: written[name] for name in row["state"] if name not in ("permit", "permits")}
        assert known == {name: row["state"][name] for name in known}
        again = read_event(UUID(row["id"]), row["version"], row["topic"], written)
        assert vars(again) == vars(event)


def test_snapshots_of_the_old_form_have_a_topic_that_is_not_read() -> None:
    assert {s["topic"] for s in _STORED["snapshots"]}.isdisjoint(SNAPSHOT_TOPICS)
    assert any(kind is Customer for kind in SNAPSHOT_TOPICS.values())


def test_an_old_customer_takes_credit(old: Scenario) -> None:
    old.when(customer_credit(500, B)).then(result="applied")
    assert old.aggregate("customer", B).credit.available("USD") == 500


def test_a_merge_of_before_is_undone_like_any_other(old: Scenario) -> None:
    first, second = old.granted
    old.when(minutes(1), unmerged(A, B)).then(result="applied")
    one, other = old.aggregate("customer", A), old.aggregate("customer", B)
    assert (one.merged_into, other.absorbed) == (None, set())
    assert first in one.permits
    assert first not in other.permits
    assert len(one.permits) == 2, "the mail to the two as one counts for both"
    for name in (A, B):
        old.when(notification("1", customer=name)).then(status=409, code="already_sent")
        old.when(notification("2", customer=name)).then(status=409, code="permit_held")
    old.when(report(permit=second, by=AGENT), minutes(1))
    old.when(notification("2", customer=A)).then(status=409, code="already_sent")


def test_a_sent_of_before_may_be_corrected(old: Scenario) -> None:
    first = old.granted[0]
    assert old.permit(first).copies == ()
    old.when(corrected(first)).then(status=200)
    assert old.permit(first).state == "rejected"
