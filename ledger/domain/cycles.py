"""Past-due cycles: what a new fact about an invoice makes of its standing (design D7)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from ledger.domain.balance import (
    Snapshot,
    Status,
    balance,
    effective_status,
    paid_and_taken_back,
    paid_by_facts_alone,
)
from ledger.domain.invoice import Invoice, Standing
from ledger.domain.payments import MoneyFact
from ledger.domain.value import value


@value
class _Before:
    """The parts of an invoice that decide what a new fact makes of its cycle.

    `unconfirmed` says that it is paid by sums of ours alone.
    """

    standing: Standing
    past_due: bool
    was_closed: bool = False
    unconfirmed: bool = False


def next_standing(
    invoice: Invoice | None,
    snapshot: Snapshot,
    money: Iterable[MoneyFact],
    at: datetime,
    now: datetime,
    default_zone: str,
    age_from_issue: bool,
) -> Standing:
    """The standing that a fact dated `at`, taken in at `now`, leads to.

    Paid, or a due date moved out of the past, ends a past-due run; the next one is the next cycle
    and its age counts from the later of due date and re-opening (design D7). An invoice that was
    closed before it was past due keeps its cycle's number, and also counts from its re-opening:
    a customer who paid early has not been late since the first due date. A due date that is moved
    away and back again counts from the day it was moved, so that no stage comes twice at once.

    What is paid by sums of ours alone, while the billing system has not said so, was paid only if
    a payment was taken back since. Else the sum was wrong, the debt never ended, and the run goes
    on as if it had not been told (ADR 0005).
    """
    known = list(money)
    owed = balance(snapshot, known)
    status = effective_status(snapshot, owed)
    zone = ZoneInfo(snapshot.time_zone or default_zone)
    today = now.astimezone(zone).date()
    before = _before(invoice, now, default_zone)
    if status is Status.OPEN and before.unconfirmed:
        before = _never_ended(before, invoice, known)
    reopened_on = before.standing.reopened_on
    ended = before.standing.run_ended
    cycle = before.standing.cycle
    taken_in_on = min(at, now).astimezone(zone).date()
    if before.was_closed and status is Status.OPEN:
        reopened_on = taken_in_on
    starts_on = _start(snapshot, reopened_on, age_from_issue)
    past_due = status is Status.OPEN and starts_on is not None and today > starts_on
    ended = ended or (before.past_due and not past_due)
    can_run_again = status is Status.OPEN and starts_on is not None
    if ended and can_run_again:
        cycle, ended, reopened_on = cycle + 1, False, taken_in_on
        starts_on = _start(snapshot, reopened_on, age_from_issue)
    return Standing(status, owed, cycle, starts_on, reopened_on, ended)


def _never_ended(before: "_Before", invoice: Invoice | None, money: list[MoneyFact]) -> "_Before":
    """What was before, without an end that only a wrong sum had made of it.

    A run that had ended before by the loss of its due date stays so: it has no start.
    """
    snapshot = invoice.snapshot if invoice else None
    if snapshot is None or paid_and_taken_back(snapshot, money):
        return before
    standing = before.standing
    ended_by_sums = standing.run_ended and standing.starts_on is not None
    still_ended = standing.run_ended and not ended_by_sums
    return _Before(replace(standing, run_ended=still_ended), past_due=ended_by_sums)


def _start(snapshot: Snapshot, reopened_on: date | None, age_from_issue: bool) -> date | None:
    due_on = snapshot.due_on
    if due_on is None and age_from_issue:
        due_on = snapshot.issued_on
    if due_on is None:
        return None
    return max(d for d in (due_on, snapshot.issued_on, reopened_on) if d is not None)


def _before(invoice: Invoice | None, now: datetime, default_zone: str) -> _Before:
    if invoice is None or invoice.snapshot is None:
        return _Before(Standing(Status.DRAFT, 0, 1, None, None, False), past_due=False)
    standing = invoice.standing
    age = invoice.days_past_due(now, default_zone)
    past_due = standing.status is Status.OPEN and age is not None and age > 0
    closed = standing.status in (Status.PAID, Status.VOID, Status.UNCOLLECTIBLE)
    unconfirmed = paid_by_facts_alone(invoice.snapshot, standing.status)
    return _Before(standing, past_due, closed, unconfirmed)
