"""Past-due runs: what ends one, what begins the next, and from when its age counts (D7)."""

from collections.abc import Callable
from datetime import date

import pytest

from ledger.domain.balance import Status
from ledger.domain.policy import Policy
from tests.support.aggregates import InvoiceHistory
from tests.support.build import at

POLICY = Policy()


def late(due: str = "2026-12-01", now: str = "2026-12-10T08:00Z") -> InvoiceHistory:
    """An invoice that is past due."""
    return InvoiceHistory(POLICY, at("2026-11-20")).observed(due=due).at(now)


def run(history: InvoiceHistory) -> tuple[int, date | None]:
    """The cycle and where its age counts from."""
    return history.invoice.standing.cycle, history.invoice.standing.starts_on


def test_the_first_cycle_counts_from_the_due_date() -> None:
    history = late()
    assert run(history) == (1, date(2026, 12, 1))
    assert history.invoice.days_past_due(at("2026-12-10T08:00Z"), "UTC") == 9
    assert history.invoice.days_past_due(at("2026-11-30T08:00Z"), "UTC") == -1


def test_paid_in_full_ends_the_run_and_a_returned_payment_begins_the_next() -> None:
    history = late().money("succeeded", 30000)
    assert history.invoice.standing.status is Status.PAID
    assert history.invoice.standing.run_ended
    history.at("2027-01-05T09:00Z").money("reversed", 30000)
    assert run(history) == (2, date(2027, 1, 5))
    assert history.invoice.standing.balance == 30000
    history.at("2027-01-20").money("succeeded", 30000, "p2")
    history.at("2027-02-02").money("reversed", 30000, "p2")
    assert run(history) == (3, date(2027, 2, 2))


def test_a_part_payment_neither_ends_nor_resets_anything() -> None:
    history = late().reminded("day-7", "day-3").money("succeeded", 29999)
    assert run(history) == (1, date(2026, 12, 1))
    assert history.invoice.standing.balance == 1
    assert set(history.invoice.stages) == {(1, "day-3"), (1, "day-7")}


@pytest.mark.parametrize("status", [Status.PAID, Status.VOID, Status.UNCOLLECTIBLE, Status.DRAFT])
def test_a_snapshot_may_end_the_run_too(status: Status) -> None:
    history = late().observed(status=status).at("2027-01-05").observed()
    assert run(history) == (2, date(2027, 1, 5))


def test_a_due_date_moved_into_the_future_begins_the_next_cycle_there() -> None:
    history = late().observed(due="2026-12-20")
    assert run(history) == (2, date(2026, 12, 20))


def test_a_due_date_moved_to_today_is_out_of_the_past() -> None:
    assert run(late().observed(due="2026-12-10")) == (2, date(2026, 12, 10))


def test_a_correction_that_leaves_it_past_due_resets_nothing() -> None:
    history = late().reminded("day-7", "day-3").observed(due="2026-12-09")
    assert run(history) == (1, date(2026, 12, 9))
    assert set(history.invoice.stages) == {(1, "day-3"), (1, "day-7")}


def test_a_due_date_moved_back_counts_from_the_day_of_the_move() -> None:
    history = late().reminded("day-7", "day-3").observed(due="2026-12-20")
    history.at("2026-12-11T08:00Z").observed(due="2026-12-01")
    assert run(history) == (2, date(2026, 12, 10))


def test_a_due_date_taken_off_ends_the_run_and_a_new_one_begins_the_next() -> None:
    history = late().observed(due=None)
    assert run(history) == (1, None)
    assert history.invoice.days_past_due(history.now, "UTC") is None
    history.at("2026-12-15").observed(due="2026-12-01")
    assert run(history) == (2, date(2026, 12, 15))


def test_a_due_date_moved_before_it_was_past_due_stays_in_its_cycle() -> None:
    history = InvoiceHistory(POLICY, at("2026-11-20")).observed(due="2026-12-01")
    assert run(history.observed(due="2026-12-05")) == (1, date(2026, 12, 5))
    assert run(history.at("2026-12-05T23:00Z").observed(due="2026-12-06")) == (1, date(2026, 12, 6))


def test_paid_before_it_was_late_keeps_the_number_and_counts_from_the_return() -> None:
    history = InvoiceHistory(POLICY, at("2026-11-20")).observed(due="2026-12-01")
    history.money("succeeded", 30000).at("2026-12-20T08:00Z").money("reversed", 30000)
    assert run(history) == (1, date(2026, 12, 20))


def test_the_return_of_a_payment_before_the_due_date_does_not_bring_it_forward() -> None:
    history = InvoiceHistory(POLICY, at("2026-11-20")).observed(due="2026-12-01")
    history.money("succeeded", 30000).at("2026-11-25").money("reversed", 30000)
    assert run(history) == (1, date(2026, 12, 1))


def test_paid_on_the_last_day_in_time_is_not_late() -> None:
    history = InvoiceHistory(POLICY, at("2026-11-20")).observed(due="2026-12-01", zone="Asia/Tokyo")
    history.at("2026-12-01T14:59Z").money("succeeded", 30000)
    assert not history.invoice.standing.run_ended
    other = InvoiceHistory(POLICY, at("2026-11-20")).observed(due="2026-12-01", zone="Asia/Tokyo")
    other.at("2026-12-01T15:00Z").money("succeeded", 30000)
    assert other.invoice.standing.run_ended


def test_the_return_is_dated_in_the_billing_zone() -> None:
    history = InvoiceHistory(POLICY, at("2026-11-20")).observed(zone="Asia/Tokyo")
    history.at("2026-12-10").money("succeeded", 30000)
    history.at("2027-01-05T15:00Z").money("reversed", 30000)
    assert run(history) == (2, date(2027, 1, 6))


def test_written_off_is_not_paid_and_owes_what_it_owed() -> None:
    history = late().observed(status=Status.UNCOLLECTIBLE)
    assert history.invoice.standing.status is Status.UNCOLLECTIBLE
    assert history.invoice.standing.balance == 30000


CHANGES: dict[str, Callable[[InvoiceHistory], InvoiceHistory]] = {
    "a payment": lambda h: h.money("succeeded", 1),
    "a hold": lambda h: h.held(),
    "the due date": lambda h: h.observed(due="2026-12-02"),
    "the issue date": lambda h: h.observed(issued="2026-11-30"),
    "void": lambda h: h.observed(status=Status.VOID),
    "a smaller balance": lambda h: h.observed(owes=20000),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_takes_a_live_reminder_back(change: str) -> None:
    history = late().reminded("day-7", state="permitted")
    assert history.invoice.stages[(1, "day-7")].overtaken is None
    CHANGES[change](history)
    assert history.invoice.stages[(1, "day-7")].overtaken is not None


def test_the_same_snapshot_again_takes_nothing_back() -> None:
    history = late().reminded("day-7", state="permitted").observed()
    assert history.invoice.stages[(1, "day-7")].overtaken is None


def test_a_reminder_that_was_sent_is_not_taken_back() -> None:
    history = late().reminded("day-7").money("succeeded", 1)
    assert history.invoice.stages[(1, "day-7")].overtaken is None


def test_a_sum_that_was_wrong_ends_no_run() -> None:
    history = late().reminded("day-7", "day-3").money("succeeded", 30000)
    assert history.invoice.standing.status is Status.PAID
    history.at("2026-12-12T08:00Z").observed(owes=15000)
    assert run(history) == (1, date(2026, 12, 1))
    assert not history.invoice.standing.run_ended
    assert set(history.invoice.stages) == {(1, "day-3"), (1, "day-7")}


def test_a_corrected_amount_ends_no_run() -> None:
    history = late().money("succeeded", 30000).at("2026-12-12T08:00Z").money("succeeded", 10000)
    assert history.invoice.standing.balance == 20000
    assert run(history) == (1, date(2026, 12, 1))


def test_what_the_billing_system_calls_paid_ended() -> None:
    history = late().money("succeeded", 30000).observed(status=Status.PAID)
    history.at("2026-12-12T08:00Z").observed()
    assert run(history) == (2, date(2026, 12, 12))


def test_paid_and_returned_within_one_second_ends_no_run() -> None:
    history = late().money("succeeded", 30000).money("reversed", 30000)
    assert run(history) == (1, date(2026, 12, 1))
