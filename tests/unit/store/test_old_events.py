"""Events that were stored under older rules fold as well as they can (ADR 0005)."""

import json
from pathlib import Path
from uuid import UUID

import pytest

from ledger.domain.balance import Snapshot, Status, balance
from ledger.domain.cycles import next_standing
from ledger.domain.invoice import Invoice
from ledger.store.log.transcoding import NewerEvent, read_event, write_state
from tests.support.build import at

_STORED = Path(__file__).parents[2] / "old_events" / "invoice.v1.json"
_ID = UUID(int=7)


def old_invoice() -> Invoice:
    """An invoice told by events of version 1: half was paid, and told twice in one second."""
    invoice = None
    for version, stored in enumerate(json.loads(_STORED.read_text(encoding="utf-8")), 1):
        invoice = read_event(_ID, version, stored["topic"], stored["state"]).mutate(invoice)
    assert isinstance(invoice, Invoice)
    return invoice


def test_old_events_are_read_and_written_as_version_2() -> None:
    for version, stored in enumerate(json.loads(_STORED.read_text(encoding="utf-8")), 1):
        event = read_event(_ID, version, stored["topic"], dict(stored["state"]))
        written = json.loads(write_state(event))
        if stored["topic"] != "ledger:Invoice.Created":
            assert written["class_version"] == 2
        again = read_event(_ID, version, stored["topic"], written)
        assert vars(again) == vars(event)


def test_an_event_of_a_newer_version_is_refused() -> None:
    """A field that this version does not know may be what forbids a mail."""
    stored = next(
        event
        for event in json.loads(_STORED.read_text(encoding="utf-8"))
        if event["topic"] == "ledger:Invoice.Observed"
    )
    newer = stored["state"] | {"class_version": 3, "forbidden": True}
    with pytest.raises(NewerEvent, match="is of version 3, this program knows 2: run a newer"):
        read_event(_ID, 2, stored["topic"], newer)


def test_what_was_decided_under_old_rules_stays_until_there_is_news() -> None:
    invoice = old_invoice()
    assert (invoice.standing.status, invoice.standing.balance) == (Status.PAID, 0)
    assert invoice.beside == ()


def test_an_old_fact_takes_the_place_of_the_same_state_of_its_payment() -> None:
    reversals = [fact for fact in old_invoice().money.values() if fact.state == "reversed"]
    assert [fact.at for fact in reversals] == [at("2026-11-02T12:00:00Z")]


def test_old_facts_are_in_the_snapshots_that_named_them() -> None:
    invoice = old_invoice()
    assert invoice.snapshot is not None
    (fact,) = (fact for fact in invoice.money.values() if fact.name == "pi_2")
    assert not invoice.snapshot.holds(fact)
    named = Snapshot("cus_1", "EUR", 10_000, 5_000, Status.OPEN, fact.at, includes=(fact.old_key,))
    assert balance(named, [fact]) == 5_000


def test_the_next_snapshot_goes_on_with_a_debt_that_only_a_sum_had_ended() -> None:
    invoice = old_invoice()
    news = Snapshot(
        "cus_1",
        "EUR",
        10_000,
        5_000,
        Status.OPEN,
        at("2026-11-06T09:00:00Z"),
        due_on=at("2026-10-20").date(),
        whole_second=True,
    )
    now = at("2026-11-06T09:00:00Z")
    standing = next_standing(invoice, news, invoice.money.values(), now, now, "UTC", False)
    assert (standing.status, standing.balance, standing.cycle) == (Status.OPEN, 5_000, 1)
    assert standing.starts_on == at("2026-10-20").date()
    assert not standing.run_ended
