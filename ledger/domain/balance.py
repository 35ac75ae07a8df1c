"""What is owed on an invoice: the latest snapshot, and the payments and credits later than it."""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import groupby

from ledger.domain.money import LARGEST_AMOUNT
from ledger.domain.news import is_ahead
from ledger.domain.payments import (
    Life,
    MoneyFact,
    as_corrected,
    from_untold,
    lives,
    moves,
    paid_after,
    paid_at_first,
)
from ledger.domain.value import value

_SECOND = timedelta(seconds=1)


class Status(StrEnum):
    """What the billing system says of an invoice, and what the money facts make of it."""

    DRAFT = "draft"
    OPEN = "open"
    PAID = "paid"
    VOID = "void"
    UNCOLLECTIBLE = "uncollectible"


@value
class Snapshot:
    """What the billing system said at one moment; amounts in minor units, times UTC.

    `version` is the provider's own counter where it has one and then orders before the time.
    `whole_second` says that its source counts whole seconds, so that it holds all that happened in
    its second (ADR 0005). `includes` names the money facts of the same instant or later that were
    taken in before it and are in its amounts: only a snapshot that is dated by its arrival can
    tell. `address` is the fingerprint of the address on the invoice, `source` who told it last.
    Payments that were pending before `settled_before` are over: this snapshot or an earlier one
    showed it. It is the beginning of a second, because a payment of the same second may have begun
    after it.
    """

    customer_id: str
    currency: str
    total: int
    amount_remaining: int
    status: Status
    observed_at: datetime
    issued_on: date | None = None
    due_on: date | None = None
    time_zone: str | None = None
    version: int | None = None
    includes: tuple[str, ...] = ()
    address: str | None = None
    whole_second: bool = False
    settled_before: datetime | None = None
    source: str = field(default="", compare=False)

    def of_arrival(self, arrival: datetime) -> "Snapshot":
        """Itself, or dated by its arrival (UTC) where the log took it in with a date ahead of it.

        News from the future was once taken as it came.
        """
        if not is_ahead(self.observed_at, arrival):
            return self
        return replace(self, observed_at=arrival)

    @property
    def owed(self) -> int:
        """What it says is owed: nothing where it says paid, or that too much was paid."""
        return max(0, self.base)

    @property
    def base(self) -> int:
        """What money facts are counted from: below zero by what was paid too much."""
        if self.status is Status.PAID:
            return min(0, self.amount_remaining)
        return self.amount_remaining

    @property
    def billed(self) -> int:
        """The most that can be owed: no return of money makes a debt larger than the bill."""
        return min(max(0, self.total, self.owed), LARGEST_AMOUNT)

    @property
    def holds_before(self) -> datetime:
        """Money that moved before this moment is in it: its instant, or the end of its second."""
        if self.whole_second:
            return self.observed_at.replace(microsecond=0) + _SECOND
        return self.observed_at

    def holds(self, fact: MoneyFact) -> bool:
        """Is that fact in its amounts already?"""
        return (
            fact.at < self.holds_before
            or fact.key in self.includes
            or fact.old_key in self.includes
        )

    def age_against(self, other: "Snapshot") -> int:
        """Above 0 where it is later than the other, below 0 where earlier, 0 of one moment.

        The provider's version decides where both have one and they differ, else the time up to
        which they hold what happened.
        """
        if None not in (self.version, other.version) and self.version != other.version:
            return 1 if (self.version or 0) > (other.version or 0) else -1
        mine = (self.holds_before, self.observed_at)
        theirs = (other.holds_before, other.observed_at)
        return (mine > theirs) - (mine < theirs)


def balance(snapshot: Snapshot, facts: Iterable[MoneyFact]) -> int:
    """What is owed, in minor units, from zero to what was billed.

    The snapshot holds what each payment had paid by then (design D10, ADR 0005); what it has paid
    since changes the balance, so one payment counts once however often it is told.
    """
    course = [owed for _, owed in _course(snapshot, facts)]
    return min(max(0, course[-1] if course else snapshot.base), snapshot.billed)


def _course(snapshot: Snapshot, facts: Iterable[MoneyFact]) -> Iterator[tuple[datetime, int]]:
    """The balance after each movement since the snapshot, with the second of the movement.

    Within a second what lowers it comes first. What came back without a word on its payment was
    paid some time before, so it raises the balance at most to what was billed.
    """
    steps: list[tuple[datetime, bool, int, bool]] = []
    for life in lives(facts):
        untold = from_untold(life)
        for fact, change in _since(snapshot, life):
            second = fact.at.replace(microsecond=0)
            steps.append((second, change > 0, change, change > 0 and fact in untold))
    owed = snapshot.base
    for second, _, change, bounded in sorted(steps):
        limit = max(owed, snapshot.billed)
        owed = min(owed + change, limit) if bounded else owed + change
        yield second, owed


def _since(snapshot: Snapshot, life: Life) -> list[tuple[MoneyFact, int]]:
    """What a payment changed since the snapshot, by what was said of it.

    News that is older than what the snapshot is known to hold makes one change of all.
    """
    first = paid_at_first(life)
    held = [fact for fact in life if snapshot.holds(fact)]
    paid = paid_after(held, first)
    later = life[len(held) :]
    if life[: len(held)] == held:
        return list(moves(later, paid))
    return [(life[-1], paid - paid_after(life, first))]


def effective_status(snapshot: Snapshot, owed: int) -> Status:
    """The status after the money facts: nothing owed is paid, a payment taken back is open."""
    if snapshot.status in (Status.DRAFT, Status.VOID):
        return snapshot.status
    if owed == 0:
        return Status.PAID
    return Status.OPEN if snapshot.status is Status.PAID else snapshot.status


def paid_by_facts_alone(snapshot: Snapshot | None, status: Status) -> bool:
    """Is it paid by sums of ours, while the billing system says that something is owed?"""
    return (
        snapshot is not None
        and snapshot.status is Status.OPEN
        and snapshot.owed > 0
        and status is Status.PAID
    )


def paid_and_taken_back(snapshot: Snapshot, facts: Iterable[MoneyFact]) -> bool:
    """Did the facts after a snapshot pay all of it, and take something back in a later second?

    What moved within one second is one step, because its order is not known. An amount that was
    corrected later counts as corrected, so a wrong sum never paid anything.
    """
    known = list(facts)
    held = [fact for fact in known if snapshot.holds(fact)]
    later = as_corrected(fact for fact in known if not snapshot.holds(fact))
    was_paid = False
    for _, in_second in groupby(_course(snapshot, [*held, *later]), lambda step: step[0]):
        *_, (_, owed) = in_second
        was_paid = was_paid or owed <= 0
        if was_paid and owed > 0:
            return True
    return False
